/* SPDX-License-Identifier: BSD-3-Clause */
/* erf x: below 1 x + x P(x^2), the error of P below 2^-30; above 1 - e^Q(x). */
static inline @V@ @name@(@V@ x) {
  const @V@ size = @real@(@bits@(x) & 0x7fffffff);
  const @V@ z = size * size;
  @V@ p = @step@(@all@(7.91990169e-05f), z, -0.000803065428f);
  p = @step@(p, z, 0.0051907259f);
  p = @step@(p, z, -0.0268551242f);
  p = @step@(p, z, 0.112836182f);
  p = @step@(p, z, -0.376126289f);
  p = @step@(p, z, 0.128379166f);
  const @V@ small = @fma@(size, p, size);
  const @V@ t = @blend@(size > 4.0f, @all@(4.0f), size);
  @V@ q = @step@(@all@(-2.17867982e-05f), t, 0.000442564633f);
  q = @step@(q, t, -0.00421089726f);
  q = @step@(q, t, 0.0252260398f);
  q = @step@(q, t, -0.108447924f);
  q = @step@(q, t, -0.633191407f);
  q = @step@(q, t, -1.12959349f);
  q = @step@(q, t, 0.000191392246f);
  @V@ n;
  const @V@ rest = @exp_rest@(q, &n);
  const @V@ found = @blend@(size < 1.0f, small, 1.0f - rest * @power@(n));
  return @real@(@bits@(found) | (@bits@(x) & (-0x7fffffff - 1)));
}
