/* SPDX-License-Identifier: BSD-3-Clause */
/* ln x for x = 2^k (1 + f), 1 + f from sqrt(1/2) to sqrt(2): with s = f / (2 + f),
   ln(1 + f) = 2 artanh s = f - f^2 / 2 + s (f^2 / 2 + R(s^2)); the error of R is below 2^-58. */
static inline @V@ @name@(@V@ x) {
  const @I@ tiny = x < 0x1p-1022;
  const @I@ bits = @bits@(@blend@(tiny, x * 0x1p54, x));
  const @I@ whole = (bits - 0x3fe6a09e667f3bcd) >> 52;
  const @V@ f = @real@(bits - (whole << 52)) - 1.0;
  @V@ k = @real@(whole + 0x4338000000000000) - 6755399441055744.0;
  k = @blend@(tiny, k - 54.0, k);
  const @V@ s = f / (f + 2.0), z = s * s, halved = f * f * 0.5;
  @V@ p = @step@(@all@(0.13088268748729362), z, 0.1326861597943606);
  p = @step@(p, z, 0.1538624557456335);
  p = @step@(p, z, 0.18181795532117215);
  p = @step@(p, z, 0.22222222392725358);
  p = @step@(p, z, 0.28571428570799146);
  p = @step@(p, z, 0.40000000000000885);
  p = @step@(p, z, 0.6666666666666666);
  const @V@ rest = @fma@(s, @fma@(p, z, halved), k * 1.9082149292705877e-10);
  const @V@ found = @fma@(k, @all@(0.6931471803691238), f - (halved - rest));
  const @V@ infinite = @all@(1.0 / 0.0);
  const @V@ outside = @blend@(x == 0.0, -infinite, infinite - infinite);
  return @blend@(x > 0.0, @blend@(x < infinite, found, x), outside);
}
