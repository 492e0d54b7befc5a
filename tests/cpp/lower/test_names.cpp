// SPDX-License-Identifier: BSD-3-Clause
#include "lower/names.hpp"

#include <gtest/gtest.h>

namespace op2::lower {
namespace {

TEST(LowerNames, TakesTheFirstFreeSuffix) {
  Names names({"x", "x_1"});
  EXPECT_EQ(names.take("y"), "y");
  EXPECT_EQ(names.take("x"), "x_2");
  EXPECT_EQ(names.take("x"), "x_3");
}

}  // namespace
}  // namespace op2::lower
