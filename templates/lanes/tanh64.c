/* SPDX-License-Identifier: BSD-3-Clause */
/* tanh x: below 0.9 x + x^3 P(x^2), the error of P below 2^-55; above 1 - 2 / (e^2x + 1). */
static inline @V@ @name@(@V@ x) {
  const @V@ size = @real@(@bits@(x) & 0x7fffffffffffffff);
  const @V@ z = size * size;
  @V@ p = @step@(@all@(-1.1405251294212053e-07), z, 9.828362505171186e-07);
  p = @step@(p, z, -4.3662392727578175e-06);
  p = @step@(p, z, 1.3966637716245628e-05);
  p = @step@(p, z, -3.7935933966540366e-05);
  p = @step@(p, z, 9.623582794517961e-05);
  p = @step@(p, z, -0.0002388765852278449);
  p = @step@(p, z, 0.0005899592568072186);
  p = @step@(p, z, -0.0014558212709483798);
  p = @step@(p, z, 0.0035921262960217867);
  p = @step@(p, z, -0.008863235378440516);
  p = @step@(p, z, 0.021869488528187667);
  p = @step@(p, z, -0.05396825396803375);
  p = @step@(p, z, 0.13333333333333092);
  p = @step@(p, z, -0.3333333333333333);
  const @V@ small = @fma@(size * z, p, size);
  @V@ n;
  const @V@ rest = @exp_rest@(2.0 * @blend@(size > 20.0, @all@(20.0), size), &n);
  const @V@ large = 1.0 - 2.0 / @step@(rest, @power@(n), 1.0);
  const @V@ found = @blend@(size < 0.9, small, large);
  return @real@(@bits@(found) | (@bits@(x) & (-0x7fffffffffffffff - 1)));
}
