// SPDX-License-Identifier: BSD-3-Clause
#include "cg/conditions.hpp"

#include <gtest/gtest.h>

#include "../kernel/ast.hpp"
#include "cg/dialect.hpp"
#include "cg/kernel_printer.hpp"

namespace op2::cg {
namespace {

using namespace kernel::ast;
using kernel::BinaryOp;
using kernel::Expr;
using kernel::UnaryOp;

const Expr number_x = at("x", 0);
const Expr flag = less(at("x", 0), at("y", 0));

/// What the statement becomes of a kernel `k(double *x, double *y)`.
std::string condition_text(kernel::Stmt stmt) {
  kernel::Kernel out;
  kernel::KernelBody body = kernel::ast::kernel_with({std::move(stmt)});
  spell_out_conditions(body);
  out.name = "k";
  out.body = std::move(body);
  out.key = "k";
  Context context(c_dialect(), {.indent = 0});
  print_kernel(context, out, {});
  const std::string text = context.finish();
  const std::size_t begin = text.find("{\n") + 2;
  return text.substr(begin, text.rfind('}') - begin);
}

std::string value(Expr expr) {
  const std::string text = condition_text(eval(std::move(expr)));
  return text.substr(0, text.find(';'));
}

TEST(Conditions, NumbersAreComparedWithZero) {
  EXPECT_EQ(value(ternary(number_x, lit("1"), lit("2"))), "x[0] != 0 ? 1 : 2");
  EXPECT_EQ(value(unary(UnaryOp::logical_not, number_x)), "!(x[0] != 0)");
  EXPECT_EQ(value(binary(BinaryOp::logical_and, number_x, flag)), "(x[0] != 0) && (x[0] < y[0])");
  EXPECT_EQ(value(binary(BinaryOp::logical_or, flag, add(number_x, lit("1")))),
            "(x[0] < y[0]) || ((x[0] + 1) != 0)");
  EXPECT_EQ(value(ternary(assign(number_x, lit("1")), flag, flag)),
            "(x[0] = 1) != 0 ? x[0] < y[0] : x[0] < y[0]");
}

TEST(Conditions, WhatIsATruthValueStays) {
  EXPECT_EQ(value(ternary(flag, lit("1"), lit("2"))), "x[0] < y[0] ? 1 : 2");
  EXPECT_EQ(value(ternary(name("x"), lit("1"), lit("2"))), "x ? 1 : 2");
  EXPECT_EQ(value(ternary(name("nobody"), lit("1"), lit("2"))), "nobody ? 1 : 2");
  EXPECT_EQ(value(unary(UnaryOp::minus, number_x)), "-x[0]");
}

TEST(Conditions, OfStatements) {
  EXPECT_EQ(condition_text(branch(number_x, {give()})), "if (x[0] != 0) {\nreturn;\n}\n");
  EXPECT_EQ(condition_text({kernel::While{number_x, {}, false}}), "while (x[0] != 0) {\n}\n");
  EXPECT_EQ(condition_text({kernel::While{number_x, {}, true}}), "do {\n} while (x[0] != 0);\n");
  EXPECT_EQ(condition_text({kernel::For{{}, number_x, std::nullopt, {}}}),
            "for (; x[0] != 0;) {\n}\n");
  EXPECT_EQ(condition_text({kernel::For{{}, std::nullopt, std::nullopt, {}}}), "for (;;) {\n}\n");
}

}  // namespace
}  // namespace op2::cg
