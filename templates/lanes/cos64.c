/* SPDX-License-Identifier: BSD-3-Clause */
/* cos x; lanes with large arguments call the function for scalars. */
static inline @V@ @name@(@V@ x) {
  const @V@ found = @circle@(x, 1);
  const @I@ large = @real@(@bits@(x) & 0x7fffffffffffffff) > 50000.0;
  return @any@(large) ? @by_lane@(large, x, found) : found;
}
