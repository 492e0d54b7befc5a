/* SPDX-License-Identifier: BSD-3-Clause */
/* sin(x + n pi / 2) for |x| <= 50000; the errors of both polynomials are below 2^-59. */
static inline @V@ @name@(@V@ x, long n) {
  @V@ low;
  @I@ quarter;
  const @V@ r = @quarters@(x, &low, &quarter);
  quarter += n;
  const @V@ z = r * r, halved = 0.5 * z, one = 1.0 - halved;
  @V@ p = @step@(@all@(-7.58668177799981e-13), z, 1.6058531358729016e-10);
  p = @step@(p, z, -2.5052106230805403e-08);
  p = @step@(p, z, 2.7557319219334436e-06);
  p = @step@(p, z, -0.0001984126984126506);
  p = @step@(p, z, 0.008333333333333331);
  p = @step@(p, z, -0.16666666666666666);
  @V@ sine = r + @fma@(r * z, p, @fma@(-halved, low, low));
  @V@ q = @step@(@all@(-1.1382610070998183e-11), z, 2.0876145958084937e-09);
  q = @step@(q, z, -2.755731727024068e-07);
  q = @step@(q, z, 2.4801587298762816e-05);
  q = @step@(q, z, -0.0013888888888887395);
  q = @step@(q, z, 0.041666666666666664);
  const @V@ cosine = one + (((1.0 - one) - halved) + @fma@(z * z, q, -r * low));
  sine = @blend@(-(quarter & 1), cosine, sine);
  return @real@(@bits@(sine) ^ ((quarter & 2) << 62));
}
