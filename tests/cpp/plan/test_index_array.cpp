// SPDX-License-Identifier: BSD-3-Clause
#include "plan/index_array.hpp"

#include <gtest/gtest.h>

namespace op2::plan {
namespace {

TEST(IndexArray, IsNarrowAsLongAsEveryIndexFits) {
  const std::int64_t largest = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(make_index_array(2, largest), IndexArray(std::vector<std::int32_t>{0, 0}));
  EXPECT_EQ(make_index_array(2, largest + 1), IndexArray(std::vector<std::int64_t>{0, 0}));
}

TEST(IndexArray, CountsItsBytes) {
  EXPECT_EQ(bytes_of(IndexArray(std::vector<std::int32_t>(3))), 12);
  EXPECT_EQ(bytes_of(IndexArray(std::vector<std::int64_t>(3))), 24);
}

}  // namespace
}  // namespace op2::plan
