// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/make.hpp"

#include <gtest/gtest.h>

namespace op2::kernel {
namespace {

TEST(Make, NumbersFold) {
  const auto value = [](const Expr& expr) { return make::value_of(expr); };
  EXPECT_EQ(value(make::number(-3)), -3);
  EXPECT_EQ(value(make::sum(BinaryOp::add, make::number(2), make::number(3))), 5);
  EXPECT_EQ(value(make::times(make::number(2), 4)), 8);
  EXPECT_EQ(value(make::over(make::number(9), 3)), 3);
  EXPECT_FALSE(value(make::name("n")));
}

TEST(Make, WhatAddsNothingIsLeftOut) {
  const Expr n = make::name("n");
  EXPECT_EQ(make::sum(BinaryOp::add, n, make::number(0)), n);
  EXPECT_EQ(make::times(n, 1), n);
  EXPECT_EQ(make::over(n, 1), n);
}

}  // namespace
}  // namespace op2::kernel
