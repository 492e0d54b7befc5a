// SPDX-License-Identifier: BSD-3-Clause
#include "ir/kernel_cost.hpp"

#include <gtest/gtest.h>

#include "ast.hpp"

namespace op2::ir {
namespace {

using namespace ast;

const Expr sum = assign(at("x", 0), add(at("x", 1), at("x", 2)));

std::int64_t cost(Body body) {
  return n_operations(kernel(std::move(body)));
}

TEST(Cost, CountsFloatingPointOnly) {
  EXPECT_EQ(cost({eval(sum)}), 1);
  EXPECT_EQ(cost({eval(update(BinaryOp::multiply, at("x", 0), lit("2.0")))}), 1);
  EXPECT_EQ(cost({eval(add(lit("1"), lit("2")))}), 0);
  EXPECT_EQ(cost({eval(call("sqrt", {add(at("x", 0), lit("1.0"))}))}), 2);
  EXPECT_EQ(cost({eval(call("fabs", {lit("1.0")})), eval(call("memcpy", {}))}), 1);
}

TEST(Cost, ComplexOperationsAreSeveral) {
  const auto cost_of = [](BinaryOp op) {
    const Type z = scalar(Base::complex128);
    return n_operations(
        kernel({function("k", {{"z", z}}, {eval(binary(op, name("z"), name("z")))})}));
  };
  EXPECT_EQ(cost_of(BinaryOp::add), 2);
  EXPECT_EQ(cost_of(BinaryOp::multiply), 6);
  EXPECT_EQ(cost_of(BinaryOp::divide), 11);
}

TEST(Cost, LoopsMultiplyAndBranchesTakeTheDearer) {
  EXPECT_EQ(cost({loop("i", 3, {loop("j", 4, {eval(sum)})})}), 12);
  EXPECT_EQ(cost({branch(less(at("x", 0), lit("0.")), {eval(sum)}, {eval(sum), eval(sum)})}), 2);
  EXPECT_EQ(cost({{.node = While{.condition = at("x", 0), .body = {eval(sum)}}}}), 1);
  const Type constant{.base = Base::int32, .is_const = true, .derivation = {}};
  Stmt counted = loop("i", 0, {eval(sum)});
  std::get<For>(counted.node).condition = less(name("i"), name("n"));
  EXPECT_EQ(cost({declare("n", constant, lit("5")), counted}), 5);
}

TEST(Cost, HelpersCountAtEachCall) {
  const FunctionDef helper = function("f", {{"x", pointer()}}, {eval(sum)});
  const Stmt use = eval(call("f", {name("x")}));
  EXPECT_EQ(n_operations(kernel({helper, function("k", {{"x", pointer()}}, {use, use})})), 2);
}

}  // namespace
}  // namespace op2::ir
