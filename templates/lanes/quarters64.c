/* SPDX-License-Identifier: BSD-3-Clause */
/* x = n pi / 2 + r + low for |x| <= 50000; n in the last bits of quarter. The first two parts of
   pi / 2 have 33 bits, so that their products are exact. */
static inline @V@ @name@(@V@ x, @V@ *low, @I@ *quarter) {
  const @V@ shifted = @step@(x, @all@(0.6366197723675814), 6755399441055744.0);
  const @V@ n = shifted - 6755399441055744.0;
  *quarter = @bits@(shifted);
  const @V@ t = @fma@(n, @all@(-1.5707963267341256), x);
  const @V@ w = n * 6.077100506303966e-11;
  const @V@ r = t - w, b = t - r;
  const @V@ rest = @fma@(n, @all@(2.0222662487959506e-21), -((t - (r + b)) + (b - w)));
  const @V@ found = r - rest;
  *low = (r - found) - rest;
  return found;
}
