/* SPDX-License-Identifier: BSD-3-Clause */
/* e^r for x = n ln 2 + r, |r| <= ln 2 / 2: a polynomial whose error is below 2^-65. */
static inline @V@ @name@(@V@ x, @V@ *n) {
  *n = @step@(x, @all@(1.4426950408889634), 6755399441055744.0) - 6755399441055744.0;
  const @V@ r = @fma@(*n, @all@(-1.9082149292705877e-10), @fma@(*n, @all@(-0.6931471803691238), x));
  @V@ p = @step@(@all@(1.6086638366705033e-10), r, 2.0918153355978567e-09);
  p = @step@(p, r, 2.5052071066149638e-08);
  p = @step@(p, r, 2.7557263236863376e-07);
  p = @step@(p, r, 2.755731924724503e-06);
  p = @step@(p, r, 2.48015873364817e-05);
  p = @step@(p, r, 0.0001984126984126329);
  p = @step@(p, r, 0.001388888888887906);
  p = @step@(p, r, 0.008333333333333333);
  p = @step@(p, r, 0.04166666666666668);
  p = @step@(p, r, 0.16666666666666666);
  p = @step@(p, r, 0.5);
  return @fma@(r * r, p, r) + 1.0;
}
