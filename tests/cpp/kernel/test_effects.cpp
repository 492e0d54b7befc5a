// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/effects.hpp"

#include <gtest/gtest.h>

#include "ast.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

const Expr element = at("x", 0);
const Expr other = name("e");

TEST(KernelEffects, AreAssignmentsStepsAndCallsThatMayStore) {
  EXPECT_TRUE(has_no_effect(call("sqrt", {add(element, other)})));
  EXPECT_FALSE(has_no_effect(add(other, assign(element, other))));
  EXPECT_FALSE(has_no_effect(unary(UnaryOp::pre_decrement, element)));
  EXPECT_FALSE(has_no_effect(call("mystery", {})));
  EXPECT_FALSE(has_no_effect(call("modf", {other, name("x")})));
}

TEST(KernelEffects, OfUnknownCallsAreForTheCallerToSay) {
  const auto is_harmless = [](const Expr& expr) { return expr.operands.empty(); };
  EXPECT_TRUE(has_no_effect(add(other, call("mystery", {})), is_harmless));
  EXPECT_FALSE(has_no_effect(call("mystery", {other}), is_harmless));
  EXPECT_FALSE(has_no_effect(call("modf", {other, name("x")}), [](const Expr&) { return true; }));
}

TEST(KernelEffects, OfASizeAreNone) {
  const Expr size{
      .node = SizeOf{}, .operands = {unary(UnaryOp::post_increment, element)}, .type = {}};
  EXPECT_TRUE(has_no_effect(size));
}

TEST(KernelEffects, StepsHaveADirectionAndAPlace) {
  EXPECT_TRUE(is_step(unary(UnaryOp::post_decrement, element)));
  EXPECT_FALSE(is_step(unary(UnaryOp::address, element)));
  EXPECT_TRUE(is_store(assign(element, other)));
  EXPECT_FALSE(is_store(add(element, other)));
  EXPECT_TRUE(is_up(UnaryOp::post_increment));
  EXPECT_FALSE(is_up(UnaryOp::pre_decrement));
  EXPECT_TRUE(is_post_step(UnaryOp::post_decrement));
  EXPECT_FALSE(is_post_step(UnaryOp::pre_increment));
  EXPECT_EQ(without_value(UnaryOp::post_decrement), UnaryOp::pre_decrement);
  EXPECT_EQ(without_value(UnaryOp::pre_increment), UnaryOp::pre_increment);
}

}  // namespace
}  // namespace op2::kernel
