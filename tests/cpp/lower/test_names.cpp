// SPDX-License-Identifier: BSD-3-Clause
#include "lower/names.hpp"

#include <gtest/gtest.h>

#include <string>

namespace op2::lower {
namespace {

TEST(LowerNames, TakesTheFirstFreeSuffix) {
  Names names({"x", "x_1"});
  EXPECT_EQ(names.take("y"), "y");
  EXPECT_EQ(names.take("x"), "x_2");
  EXPECT_EQ(names.take("x"), "x_3");
}

TEST(LowerNames, AreNotLongerThanNamesOfFiles) {
  Names names({});
  const std::string wanted(300, 'a');
  EXPECT_EQ(names.take(wanted), std::string(120, 'a'));
  EXPECT_EQ(names.take(wanted), std::string(120, 'a') + "_1");
}

}  // namespace
}  // namespace op2::lower
