// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/updates.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "ast.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

const Expr x = at("x", 0);
const Expr e = name("e");

std::optional<Use> use_of(const Expr& expr) {
  const auto update = update_of(expr);
  return update ? std::optional(update->use) : std::nullopt;
}

std::optional<Use> use_of(const Stmt& stmt) {
  const auto update = update_of(std::get<If>(stmt.node));
  return update ? std::optional(update->use) : std::nullopt;
}

TEST(Updates, Increments) {
  EXPECT_EQ(use_of(update(BinaryOp::add, x, e)), Use::increment);
  EXPECT_EQ(use_of(update(BinaryOp::subtract, x, e)), Use::increment);
  EXPECT_EQ(use_of(assign(x, add(e, x))), Use::increment);
  EXPECT_EQ(use_of(assign(x, add(add(e, x), e))), Use::increment);
  EXPECT_EQ(use_of(assign(x, binary(BinaryOp::subtract, x, e))), Use::increment);
  EXPECT_EQ(use_of(unary(UnaryOp::post_increment, x)), Use::increment);
}

TEST(Updates, SayWhereTheTargetIsReadForThem) {
  EXPECT_TRUE(update_of(update(BinaryOp::add, x, x))->own.empty());
  const Expr sum = assign(x, add(x, mul(x, e)));
  const auto of_sum = update_of(sum);
  ASSERT_EQ(of_sum->own.size(), 1U);
  EXPECT_EQ(of_sum->own[0], &sum.operands[1].operands[0]);
}

TEST(Updates, NotEverySumIsAnIncrement) {
  EXPECT_EQ(use_of(update(BinaryOp::multiply, x, e)), std::nullopt);
  EXPECT_EQ(use_of(assign(x, binary(BinaryOp::subtract, e, x))), std::nullopt);
  EXPECT_EQ(use_of(assign(x, mul(x, e))), std::nullopt);
  EXPECT_EQ(use_of(assign(x, x)), std::nullopt);
  EXPECT_EQ(use_of(assign(x, add(at("x", 1), e))), std::nullopt);
  const Expr moving = at(name("x"), unary(UnaryOp::post_increment, name("i")));
  EXPECT_EQ(use_of(assign(moving, add(moving, e))), std::nullopt);
  EXPECT_EQ(use_of(unary(UnaryOp::minus, x)), std::nullopt);
}

TEST(Updates, WhatIsAddedIsKept) {
  const Expr sum = assign(x, add(add(e, x), lit("1")));
  const auto found = update_of(sum);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->values.size(), 2U);
  EXPECT_EQ(*found->values[0], e);
  EXPECT_EQ(*found->values[1], lit("1"));
}

TEST(Updates, ExtremesByCall) {
  EXPECT_EQ(use_of(assign(x, call("fmin", {x, e}))), Use::minimum);
  EXPECT_EQ(use_of(assign(x, call("__builtin_fmaxf", {e, x}))), Use::maximum);
  EXPECT_EQ(use_of(assign(x, call("fmin", {e, e}))), std::nullopt);
  EXPECT_EQ(use_of(assign(x, call("pow", {x, e}))), std::nullopt);
}

TEST(Updates, ExtremesByTernary) {
  const auto more = [](Expr a, Expr b) {
    return binary(BinaryOp::greater_equal, std::move(a), std::move(b));
  };
  EXPECT_EQ(use_of(assign(x, ternary(less(x, e), x, e))), Use::minimum);
  EXPECT_EQ(use_of(assign(x, ternary(less(x, e), e, x))), Use::maximum);
  EXPECT_EQ(use_of(assign(x, ternary(more(x, e), x, e))), Use::maximum);
  EXPECT_EQ(use_of(assign(x, ternary(more(e, x), x, e))), Use::minimum);
  EXPECT_EQ(use_of(assign(x, ternary(less(x, lit("0")), x, e))), std::nullopt);
  EXPECT_EQ(use_of(assign(x, ternary(e, x, e))), std::nullopt);
  const Expr impure = call("mystery", {});
  EXPECT_EQ(use_of(assign(x, ternary(less(x, impure), x, impure))), std::nullopt);
}

TEST(Updates, ExtremesByBranch) {
  const Body set{eval(assign(x, e))};
  EXPECT_EQ(use_of(branch(less(e, x), set)), Use::minimum);
  EXPECT_EQ(use_of(branch(less(x, e), set)), Use::maximum);
  EXPECT_EQ(use_of(branch(less(x, lit("0")), set)), std::nullopt);
  EXPECT_EQ(use_of(branch(less(e, x), set, set)), std::nullopt);
  EXPECT_EQ(use_of(branch(less(e, x), {set[0], set[0]})), std::nullopt);
}

}  // namespace
}  // namespace op2::kernel
