// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_expressions.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "../kernel/ast.hpp"
#include "base/error.hpp"
#include "kernel/walk.hpp"

namespace op2::lower {
namespace {

using namespace kernel::ast;
using kernel::Base;
using kernel::Expr;

/// The statements' expressions in a kernel of x and y, where `x` and what it flows into vary.
class LanesExpressions : public ::testing::Test {
 protected:
  Expr retyped(Expr expr) { return made(std::move(expr), std::nullopt); }
  Expr under_a_mask(Expr expr) {
    return made(std::move(expr), typed::name("m", values_.vector(Base::int64)));
  }

 private:
  Expr made(Expr expr, std::optional<Expr> mask) {
    const kernel::KernelBody body =
        kernel_with({declare("s", number(), lit("1.0")), declare("i", whole(), lit("1")),
                     eval(std::move(expr))});
    LaneInstances instances(body);
    const LaneInstance& in = instances.of("k", {true, true}, false);
    LaneExpressions expressions(
        instances, in, values_, [](const LaneInstance& called) { return called.function->name; },
        std::move(mask));
    const auto& last = std::get<kernel::Evaluate>(body.entry().body.back().node);
    return expressions.effect(last.value);
  }

  LaneValues values_{4, Base::int64};
};

std::string function_of(const Expr& expr) {
  const auto* call = std::get_if<kernel::Call>(&expr.node);
  return call == nullptr ? "" : call->function;
}

TEST_F(LanesExpressions, StayScalarWhereNothingVaries) {
  EXPECT_EQ(retyped(add(name("s"), lit("2.0"))).type.lanes, 0);
  EXPECT_EQ(retyped(add(name("s"), at("x", 0))).type.lanes, 4);
}

TEST_F(LanesExpressions, ChoicesOnDataBlend) {
  const Expr made = retyped(ternary(less(at("x", 0), lit("0.0")), at("x", 1), name("s")));
  EXPECT_EQ(function_of(made), "op2_blend_float64x4");
}

TEST_F(LanesExpressions, SubscriptsFromDataPickAndPut) {
  const Expr place = at(name("x"), cast(whole(), at("x", 1)));
  EXPECT_EQ(function_of(retyped(place)), "op2_pick_float64x4");
  EXPECT_EQ(function_of(retyped(assign(place, lit("1.0")))), "op2_put_float64x4");
}

TEST_F(LanesExpressions, LanesThatAreOffKeepToTheArray) {
  const Expr made = under_a_mask(at(name("x"), cast(whole(), at("x", 1))));
  ASSERT_EQ(made.operands.size(), 2U);
  const auto* index = std::get_if<kernel::Binary>(&made.operands[1].node);
  ASSERT_NE(index, nullptr);
  EXPECT_EQ(index->op, kernel::BinaryOp::bit_and);
}

/// What @p made divides by, and in place of what is not to be divided by: the mask.
Expr mask_of_divisor(const Expr& made) {
  std::vector<Expr> masks;
  kernel::for_each_expr(made, [&masks](const Expr& part) {
    const auto* node = std::get_if<kernel::Binary>(&part.node);
    if (node == nullptr || node->op != kernel::BinaryOp::divide) return;
    const Expr& divisor = part.operands[1];
    EXPECT_EQ(function_of(divisor), "op2_blend_int32x4");
    masks.push_back(divisor.operands.at(0));
  });
  EXPECT_EQ(masks.size(), 1U);
  return masks.at(0);
}

bool is_negated(const Expr& mask) {
  if (std::holds_alternative<kernel::Cast>(mask.node)) return is_negated(mask.operands[0]);
  const auto* node = std::get_if<kernel::Unary>(&mask.node);
  return node != nullptr && node->op == kernel::UnaryOp::bit_not;
}

/// Lanes whose left side decides do not evaluate the right one: they divide by 1.
TEST_F(LanesExpressions, TheRightSideIsOfLanesThatTheLeftOneLeavesOpen) {
  const auto choice = [this](kernel::BinaryOp op) {
    const Expr quotient = binary(kernel::BinaryOp::divide, lit("7"), cast(whole(), at("x", 1)));
    const Expr condition = binary(op, less(at("x", 0), lit("0.0")), less(quotient, lit("3")));
    return mask_of_divisor(retyped(ternary(condition, at("x", 1), name("s"))));
  };
  EXPECT_TRUE(is_negated(choice(kernel::BinaryOp::logical_or)));
  EXPECT_FALSE(is_negated(choice(kernel::BinaryOp::logical_and)));
}

TEST_F(LanesExpressions, StepsAreUpdates) {
  const Expr after = unary(kernel::UnaryOp::post_increment, at("y", 0));
  const Expr made = retyped(after);
  EXPECT_EQ(std::get<kernel::Assign>(made.node).op, kernel::BinaryOp::add);
  EXPECT_EQ(made.type.lanes, 4);
  EXPECT_EQ(retyped(binary(kernel::BinaryOp::comma, name("i"), after)).type.lanes, 4);
}

TEST_F(LanesExpressions, StoresInsideOfValuesAreOurMistake) {
  EXPECT_THROW((void)retyped(add(at("x", 0), assign(at("y", 0), lit("1.0")))), InternalError);
}

TEST_F(LanesExpressions, RefuseWhatHasNoTypeOnLanes) {
  EXPECT_THROW((void)retyped(assign(at("y", 0), name("mystery"))), Refusal);
}

}  // namespace
}  // namespace op2::lower
