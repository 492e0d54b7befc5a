/* SPDX-License-Identifier: BSD-3-Clause */
/* sin(x + n pi / 2) for |x| <= 12000; the errors of both polynomials are below 2^-28. */
static inline @V@ @name@(@V@ x, int n) {
  @V@ low;
  @I@ quarter;
  const @V@ r = @quarters@(x, &low, &quarter);
  quarter += n;
  const @V@ z = r * r, halved = 0.5f * z, one = 1.0f - halved;
  @V@ p = @step@(@all@(2.72498482e-06f), z, -0.000198400856f);
  p = @step@(p, z, 0.00833333191f);
  p = @step@(p, z, -0.166666672f);
  @V@ sine = r + @fma@(r * z, p, @fma@(-halved, low, low));
  @V@ q = @step@(@all@(2.45478786e-05f), z, -0.00138883025f);
  q = @step@(q, z, 0.0416666642f);
  const @V@ cosine = one + (((1.0f - one) - halved) + @fma@(z * z, q, -r * low));
  sine = @blend@(-(quarter & 1), cosine, sine);
  return @real@(@bits@(sine) ^ ((quarter & 2) << 30));
}
