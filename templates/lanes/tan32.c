/* SPDX-License-Identifier: BSD-3-Clause */
/* tan x = tan r, or -1 / tan r: tan r in two parts, and its quotient mended by the products of
   halves, which are exact. Lanes with large arguments call the function for scalars. */
static inline @V@ @name@(@V@ x) {
  @V@ low;
  @I@ quarter;
  const @V@ r = @quarters@(x, &low, &quarter);
  const @V@ z = r * r;
  @V@ p = @step@(@all@(0.0038441997f), z, 0.00118353497f);
  p = @step@(p, z, 0.00996326562f);
  p = @step@(p, z, 0.0216208082f);
  p = @step@(p, z, 0.0539945066f);
  p = @step@(p, z, 0.133332312f);
  p = @step@(p, z, 0.333333343f);
  const @V@ about = @fma@(r * z, p, r);
  const @V@ rest = @fma@(r * z, p, @fma@(about * about, low, low));
  const @V@ tangent = r + rest;
  const @V@ head = @real@(@bits@(tangent) & -0x1000), tail = rest - (head - r);
  const @V@ inverse = -1.0f / tangent;
  const @V@ start = @real@(@bits@(inverse) & -0x1000);
  const @V@ cotangent = @fma@(inverse, @fma@(start, tail, @step@(start, head, 1.0f)), start);
  const @V@ found = @blend@(x == 0.0f, x, @blend@(-(quarter & 1), cotangent, tangent));
  const @I@ large = @real@(@bits@(x) & 0x7fffffff) > 12000.0f;
  return @any@(large) ? @by_lane@(large, x, found) : found;
}
