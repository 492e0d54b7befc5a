/* SPDX-License-Identifier: BSD-3-Clause */
/* e^r for x = n ln 2 + r, |r| <= ln 2 / 2: a polynomial whose error is below 2^-29. */
static inline @V@ @name@(@V@ x, @V@ *n) {
  *n = @step@(x, @all@(1.44269504f), 12582912.0f) - 12582912.0f;
  const @V@ r = @fma@(*n, @all@(-1.42860677e-06f), @fma@(*n, @all@(-0.693145752f), x));
  @V@ p = @step@(@all@(0.0001989101f), r, 0.00139336672f);
  p = @step@(p, r, 0.00833331048f);
  p = @step@(p, r, 0.041666463f);
  p = @step@(p, r, 0.166666672f);
  p = @step@(p, r, 0.5f);
  return @fma@(r * r, p, r) + 1.0f;
}
