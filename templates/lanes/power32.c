/* SPDX-License-Identifier: BSD-3-Clause */
/* 2^n for a whole n from -126 to 127. */
static inline @V@ @name@(@V@ n) {
  return @real@((@bits@(n + 12582912.0f) << 23) + 0x3f800000);
}
