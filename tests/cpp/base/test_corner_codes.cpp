// SPDX-License-Identifier: BSD-3-Clause
#include "base/corner_codes.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace op2::abi {
namespace {

TEST(CornerCodes, HaveAsManyBitsAsTellCornersApart) {
  const int bits[] = {0, 1, 2, 2, 3, 3, 3, 3, 4};
  for (int n = 1; n <= 9; ++n) EXPECT_EQ(corner_bits(n), bits[n - 1]) << n;
}

TEST(CornerCodes, FitAByteOrNot) {
  EXPECT_TRUE(fits_corner_code(2, 3));  // edges of triangles
  EXPECT_TRUE(fits_corner_code(2, 4));
  EXPECT_TRUE(fits_corner_code(3, 4));   // faces of tetrahedra
  EXPECT_FALSE(fits_corner_code(4, 8));  // of hexahedra
  EXPECT_TRUE(fits_corner_code(2, 8));
  EXPECT_FALSE(fits_corner_code(2, 9));
  EXPECT_TRUE(fits_corner_code(7, 1));
  EXPECT_FALSE(fits_corner_code(2, 0));
}

TEST(CornerCodes, EveryBitIsAnotherOneAndNoneIsTheFirst) {
  std::set<std::int64_t> seen{1};
  for (int entry = 0; entry < 3; ++entry) {
    for (int bit = 0; bit < corner_bits(4); ++bit) {
      EXPECT_TRUE(seen.insert(corner_bit(entry, bit, 4)).second);
      EXPECT_LT(corner_bit(entry, bit, 4), 256);
    }
  }
}

}  // namespace
}  // namespace op2::abi
