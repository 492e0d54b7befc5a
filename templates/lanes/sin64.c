/* SPDX-License-Identifier: BSD-3-Clause */
/* sin x; lanes with large arguments call the function for scalars. */
static inline @V@ @name@(@V@ x) {
  const @V@ found = @blend@(x == 0.0, x, @circle@(x, 0));
  const @I@ large = @real@(@bits@(x) & 0x7fffffffffffffff) > 50000.0;
  return @any@(large) ? @by_lane@(large, x, found) : found;
}
