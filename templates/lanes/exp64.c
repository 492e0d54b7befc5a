/* SPDX-License-Identifier: BSD-3-Clause */
/* e^x; 2^n is multiplied in two halves, as it may be out of range where the result is not. */
static inline @V@ @name@(@V@ x) {
  x = @blend@(x > 710.0, @all@(710.0), x);
  x = @blend@(x < -746.0, @all@(-746.0), x);
  @V@ n;
  const @V@ rest = @exp_rest@(x, &n);
  const @V@ first = @step@(n, @all@(0.5), 6755399441055744.0) - 6755399441055744.0;
  return rest * @power@(first) * @power@(n - first);
}
