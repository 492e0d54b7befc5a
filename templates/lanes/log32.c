/* SPDX-License-Identifier: BSD-3-Clause */
/* ln x for x = 2^k (1 + f), 1 + f from sqrt(1/2) to sqrt(2): with s = f / (2 + f),
   ln(1 + f) = 2 artanh s = f - f^2 / 2 + s (f^2 / 2 + R(s^2)); the error of R is below 2^-29. */
static inline @V@ @name@(@V@ x) {
  const @I@ tiny = x < 0x1p-126f;
  const @I@ bits = @bits@(@blend@(tiny, x * 0x1p25f, x));
  const @I@ whole = (bits - 0x3f3504f3) >> 23;
  const @V@ f = @real@(bits - (whole << 23)) - 1.0f;
  @V@ k = @real@(whole + 0x4b400000) - 12582912.0f;
  k = @blend@(tiny, k - 25.0f, k);
  const @V@ s = f / (f + 2.0f), z = s * s, halved = f * f * 0.5f;
  @V@ p = @step@(@all@(0.233318046f), z, 0.285507709f);
  p = @step@(p, z, 0.400001228f);
  p = @step@(p, z, 0.666666687f);
  const @V@ rest = @fma@(s, @fma@(p, z, halved), k * 1.42860677e-06f);
  const @V@ found = @fma@(k, @all@(0.693145752f), f - (halved - rest));
  const @V@ infinite = @all@(1.0f / 0.0f);
  const @V@ outside = @blend@(x == 0.0f, -infinite, infinite - infinite);
  return @blend@(x > 0.0f, @blend@(x < infinite, found, x), outside);
}
