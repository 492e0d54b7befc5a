// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_kernel.hpp"

#include <gtest/gtest.h>

#include "../kernel/ast.hpp"
#include "cg/kernel_printer.hpp"
#include "kernel/lane_functions.hpp"
#include "loops.hpp"

namespace op2::lower {
namespace {

using namespace kernel::ast;

/// The retyped kernel as C; what surrounds it is in the text, too.
std::string text_of(const kernel::KernelBody& body,
                    const std::vector<bool>& varies = {true, true}) {
  const KernelOnLanes made = kernel_on_lanes(body, varies, 4);
  EXPECT_TRUE(made.body) << made.why;
  if (!made.body) return "";
  kernel::Kernel kernel;
  kernel.name = "k";
  kernel.body = made.body;
  kernel.key = "k";
  cg::Context context(cg::c_dialect());
  (void)cg::print_kernel(context, kernel);
  return context.finish();
}

TEST(LanesKernel, ValuesByElementBecomeVectors) {
  const std::string text = text_of(
      kernel_with({declare("t", number(), mul(lit("2.0"), at("x", 0))),
                   eval(kernel::ast::update(kernel::BinaryOp::add, at("y", 1), name("t")))}));
  EXPECT_TRUE(testing::contains(text, "op2_float64x4 t = 2.0 * x[0];")) << text;
  EXPECT_TRUE(testing::contains(text, "y[1] += t;")) << text;
}

TEST(LanesKernel, WhatIsTheSameForAllStaysScalar) {
  const std::string text =
      text_of(kernel_with({eval(assign(at("y", 0), at("x", 0)))}), {false, true});
  EXPECT_TRUE(testing::contains(text, "double *x")) << text;
  EXPECT_TRUE(testing::contains(text, "y[0] = (x[0] - (op2_float64x4){0});")) << text;
}

TEST(LanesKernel, BranchesOnDataBlend) {
  const std::string text = text_of(
      kernel_with({branch(less(at("x", 0), at("x", 1)), {eval(assign(at("y", 0), lit("1.0")))},
                          {eval(assign(at("y", 0), at("x", 0)))})}));
  EXPECT_FALSE(testing::contains(text, "if (x")) << text;
  EXPECT_TRUE(testing::contains(text, "op2_mask1 = x[0] < x[1];")) << text;
  EXPECT_TRUE(testing::contains(text, "op2_mask2 = ~op2_mask1;")) << text;
  EXPECT_TRUE(testing::contains(text, "y[0] = op2_blend_float64x4(op2_mask2, x[0], y[0]);"))
      << text;
}

TEST(LanesKernel, EffectsInsideOfValuesAreStatements) {
  const kernel::Expr place = at(name("y"), cast(whole(), at("x", 1)));
  const std::string text = text_of(
      kernel_with({eval(assign(at("y", 0), unary(kernel::UnaryOp::post_increment, at("x", 0)))),
                   eval(assign(at("x", 2), ternary(less(at("x", 0), at("x", 1)),
                                                   assign(place, lit("1.0")), lit("2.0"))))}));
  EXPECT_TRUE(testing::contains(text, "op2_float64x4 op2_value1 = x[0];")) << text;
  EXPECT_TRUE(testing::contains(text, "x[0] += ")) << text;
  EXPECT_TRUE(testing::contains(text, "y[0] = op2_value1;")) << text;
  EXPECT_TRUE(testing::contains(text, "op2_put_float64x4(")) << text;
}

TEST(LanesKernel, LibraryFunctionsRunByLane) {
  const std::string text =
      text_of(kernel_with({eval(assign(at("y", 0), call("sqrt", {at("x", 0)})))}));
  EXPECT_TRUE(testing::contains(text, "y[0] = op2_sqrt_float64x4(x[0]);")) << text;
  EXPECT_TRUE(testing::contains(text, "{__builtin_sqrt(a[0]), __builtin_sqrt(a[1])")) << text;
}

TEST(LanesKernel, SubscriptsFromDataLookUpTables) {
  kernel::Variable table{"table", array(number(), 3), std::nullopt, 0};
  table.type.is_const = true;
  table.value = kernel::Expr{kernel::InitList{}, {lit("1.0"), lit("2.0"), lit("3.0")}, {}};
  const kernel::KernelBody body = kernel_with(
      {function("k", {{"x", pointer()}, {"y", pointer()}},
                {eval(assign(at("y", 0), at(name("table"), cast(whole(), at("x", 0)))))})},
      {table});
  EXPECT_TRUE(testing::contains(text_of(body), "op2_lookup_float64x4(&table[0]")) << text_of(body);
}

TEST(LanesKernel, RefusesWithAReason) {
  const KernelOnLanes made =
      kernel_on_lanes(kernel_with({eval(assign(at("y", 0), at("x", 0)))}), {true, false}, 4);
  EXPECT_FALSE(made.body);
  EXPECT_EQ(made.why, "it writes behind an argument that is the same for all elements");
}

}  // namespace
}  // namespace op2::lower
