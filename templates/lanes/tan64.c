/* SPDX-License-Identifier: BSD-3-Clause */
/* tan x = tan r, or -1 / tan r: tan r in two parts, and its quotient mended by the products of
   halves, which are exact. Lanes with large arguments call the function for scalars. */
static inline @V@ @name@(@V@ x) {
  @V@ low;
  @I@ quarter;
  const @V@ r = @quarters@(x, &low, &quarter);
  const @V@ z = r * r;
  @V@ p = @step@(@all@(8.488362125459819e-06), z, -1.8336170544612102e-05);
  p = @step@(p, z, 3.655473818930703e-05);
  p = @step@(p, z, -1.1055567574235376e-05);
  p = @step@(p, z, 5.561764256254797e-05);
  p = @step@(p, z, 8.997070313269789e-05);
  p = @step@(p, z, 0.0002412312929964038);
  p = @step@(p, z, 0.0005895744239461528);
  p = @step@(p, z, 0.0014559029356589097);
  p = @step@(p, z, 0.0035921209584383537);
  p = @step@(p, z, 0.008863236005092942);
  p = @step@(p, z, 0.021869488517004713);
  p = @step@(p, z, 0.05396825396865703);
  p = @step@(p, z, 0.13333333333333);
  p = @step@(p, z, 0.3333333333333333);
  const @V@ about = @fma@(r * z, p, r);
  const @V@ rest = @fma@(r * z, p, @fma@(about * about, low, low));
  const @V@ tangent = r + rest;
  const @V@ head = @real@(@bits@(tangent) & -0x100000000), tail = rest - (head - r);
  const @V@ inverse = -1.0 / tangent;
  const @V@ start = @real@(@bits@(inverse) & -0x100000000);
  const @V@ cotangent = @fma@(inverse, @fma@(start, tail, @step@(start, head, 1.0)), start);
  const @V@ found = @blend@(x == 0.0, x, @blend@(-(quarter & 1), cotangent, tangent));
  const @I@ large = @real@(@bits@(x) & 0x7fffffffffffffff) > 50000.0;
  return @any@(large) ? @by_lane@(large, x, found) : found;
}
