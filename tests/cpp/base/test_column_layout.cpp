// SPDX-License-Identifier: BSD-3-Clause
#include "base/column_layout.hpp"

#include <gtest/gtest.h>

namespace op2::abi {
namespace {

TEST(ColumnLayout, IsByRowsForEvenNumbersThatWereTold) {
  EXPECT_FALSE(is_by_rows(0));
  EXPECT_FALSE(is_by_rows(3));
  EXPECT_TRUE(is_by_rows(2));
  EXPECT_TRUE(is_by_rows(4));
}

}  // namespace
}  // namespace op2::abi
