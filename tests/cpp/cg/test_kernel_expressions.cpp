// SPDX-License-Identifier: BSD-3-Clause
#include "cg/kernel_expressions.hpp"

#include <gtest/gtest.h>

#include "../kernel/ast.hpp"
#include "base/error.hpp"

namespace op2::cg {
namespace {

using namespace kernel::ast;
using kernel::Base;
using kernel::BinaryOp;
using kernel::Expr;
using kernel::UnaryOp;

const Expr a = name("a");
const Expr b = name("b");
const Expr c = name("c");

std::string text(const Expr& expr) {
  return expression_text(expr, c_dialect());
}

TEST(ExpressionText, KeepsTheTree) {
  EXPECT_EQ(text(mul(add(a, b), c)), "(a + b) * c");
  EXPECT_EQ(text(add(mul(a, b), c)), "a * b + c");
  EXPECT_EQ(text(add(a, add(b, c))), "a + (b + c)");
  EXPECT_EQ(text(add(add(a, b), c)), "a + b + c");
  EXPECT_EQ(text(assign(a, assign(b, c))), "a = b = c");
  EXPECT_EQ(text(add(assign(a, b), c)), "(a = b) + c");
  EXPECT_EQ(text(ternary(ternary(a, b, c), b, ternary(a, b, c))), "(a ? b : c) ? b : a ? b : c");
  EXPECT_EQ(text(at(add(a, b), binary(BinaryOp::comma, a, b))), "(a + b)[(a, b)]");
  EXPECT_EQ(text(call("f", {binary(BinaryOp::comma, a, b), assign(a, c)})), "f((a, b), a = c)");
  EXPECT_EQ(text(cast(number(), add(a, b))), "(double)(a + b)");
}

TEST(ExpressionText, SignsDoNotRunTogether) {
  EXPECT_EQ(text(unary(UnaryOp::minus, unary(UnaryOp::minus, a))), "-(-a)");
  EXPECT_EQ(text(unary(UnaryOp::minus, unary(UnaryOp::pre_decrement, a))), "-(--a)");
  EXPECT_EQ(text(unary(UnaryOp::minus, unary(UnaryOp::plus, a))), "-+a");
  EXPECT_EQ(text(unary(UnaryOp::dereference, unary(UnaryOp::post_increment, a))), "*a++");
  EXPECT_EQ(text(unary(UnaryOp::post_increment, unary(UnaryOp::dereference, a))), "(*a)++");
}

TEST(ExpressionText, MixedOperatorsGetTheParenthesesCompilersAskFor) {
  const auto both = [](Expr x, Expr y) {
    return binary(BinaryOp::logical_and, std::move(x), std::move(y));
  };
  EXPECT_EQ(text(binary(BinaryOp::logical_or, both(a, b), c)), "(a && b) || c");
  EXPECT_EQ(text(binary(BinaryOp::shift_left, a, add(b, c))), "a << (b + c)");
  EXPECT_EQ(text(binary(BinaryOp::bit_and, a, less(b, c))), "a & (b < c)");
  EXPECT_EQ(text(less(mul(a, b), c)), "a * b < c");
  EXPECT_EQ(condition_text(assign(a, b), c_dialect()), "(a = b)");
  EXPECT_EQ(condition_text(less(a, b), c_dialect()), "a < b");
}

TEST(DeclarationText, WorksFromTheInsideOut) {
  const auto declared = [](const kernel::Type& type) {
    return declaration_text(type, "x", c_dialect());
  };
  EXPECT_EQ(declared(kernel::pointer_to(array(number(), 2))), "double (*x)[2]");
  EXPECT_EQ(declared(array(pointer(), 3)), "double *x[3]");
  EXPECT_EQ(declared(array(array(number(), 4), 3)), "double x[3][4]");
  EXPECT_EQ(declared(kernel::pointer_to(kernel::scalar(Base::complex64))), "float _Complex *x");
  kernel::Type fast = kernel::pointer_to(kernel::scalar(Base::boolean), true);
  fast.derivation.front().is_restrict = true;
  fast.is_const = true;
  EXPECT_EQ(declared(fast), "const _Bool *const __restrict__ x");
  EXPECT_EQ(declaration_text(fast, "x", opencl_dialect(), {.boolean = "bool"}),
            "const bool *const restrict x");
  EXPECT_EQ(declaration_text(kernel::pointer_to(array(number(), 2)), "", c_dialect()),
            "double (*)[2]");
}

TEST(VariablesText, SharesTheScalar) {
  const kernel::Declare node{
      .is_static = true,
      .variables = {{.name = "i", .type = whole(), .value = lit("0")},
                    {.name = "p", .type = kernel::pointer_to(whole()), .value = name("q")}}};
  EXPECT_EQ(variables_text(node, c_dialect()), "static int i = 0, *p = q");
}

TEST(DeclarationText, AnUnknownTypeIsOurMistake) {
  EXPECT_THROW((void)declaration_text(kernel::Type{}, "x", c_dialect()), InternalError);
  EXPECT_THROW((void)declaration_text(kernel::on_lanes(kernel::Base::unknown, 4), "x", c_dialect()),
               InternalError);
}

}  // namespace
}  // namespace op2::cg
