/* SPDX-License-Identifier: BSD-3-Clause */
/* 2^n for a whole n from -1022 to 1023. */
static inline @V@ @name@(@V@ n) {
  return @real@((@bits@(n + 6755399441055744.0) << 52) + 0x3ff0000000000000);
}
