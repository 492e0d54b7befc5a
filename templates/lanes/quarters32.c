/* SPDX-License-Identifier: BSD-3-Clause */
/* x = n pi / 2 + r + low for |x| <= 12000; n in the last bits of quarter. The first three parts
   of pi / 2 have 11 bits, so that their products are exact. */
static inline @V@ @name@(@V@ x, @V@ *low, @I@ *quarter) {
  const @V@ shifted = @step@(x, @all@(0.636619772f), 12582912.0f);
  const @V@ n = shifted - 12582912.0f;
  *quarter = @bits@(shifted);
  const @V@ t = @fma@(n, @all@(-1.5703125f), x);
  const @V@ w = n * 0.000483751297f, v = n * 7.54953362e-08f;
  const @V@ r = t - w, b = t - r;
  const @V@ s = r - v, c = r - s;
  const @V@ above = ((t - (r + b)) + (b - w)) + ((r - (s + c)) + (c - v));
  const @V@ rest = @fma@(n, @all@(2.56334415e-12f), -above);
  const @V@ found = s - rest;
  *low = (s - found) - rest;
  return found;
}
