/* SPDX-License-Identifier: BSD-3-Clause */
/* e^x; 2^n is multiplied in two halves, as it may be out of range where the result is not. */
static inline @V@ @name@(@V@ x) {
  x = @blend@(x > 89.0f, @all@(89.0f), x);
  x = @blend@(x < -104.0f, @all@(-104.0f), x);
  @V@ n;
  const @V@ rest = @exp_rest@(x, &n);
  const @V@ first = @step@(n, @all@(0.5f), 12582912.0f) - 12582912.0f;
  return rest * @power@(first) * @power@(n - first);
}
