/* SPDX-License-Identifier: BSD-3-Clause */
/* tanh x: below 0.9 x + x^3 P(x^2), the error of P below 2^-27; above 1 - 2 / (e^2x + 1). */
static inline @V@ @name@(@V@ x) {
  const @V@ size = @real@(@bits@(x) & 0x7fffffff);
  const @V@ z = size * size;
  @V@ p = @step@(@all@(-0.0005144428f), z, 0.00274578808f);
  p = @step@(p, z, -0.00843967404f);
  p = @step@(p, z, 0.0217551086f);
  p = @step@(p, z, -0.0539531521f);
  p = @step@(p, z, 0.133332565f);
  p = @step@(p, z, -0.333333313f);
  const @V@ small = @fma@(size * z, p, size);
  @V@ n;
  const @V@ rest = @exp_rest@(2.0f * @blend@(size > 10.0f, @all@(10.0f), size), &n);
  const @V@ large = 1.0f - 2.0f / @step@(rest, @power@(n), 1.0f);
  const @V@ found = @blend@(size < 0.9f, small, large);
  return @real@(@bits@(found) | (@bits@(x) & (-0x7fffffff - 1)));
}
