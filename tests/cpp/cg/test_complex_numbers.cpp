// SPDX-License-Identifier: BSD-3-Clause
#include "cg/complex_numbers.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cg/dialect.hpp"
#include "cg/kernel_expressions.hpp"
#include "kernel/types.hpp"

namespace op2::cg {
namespace {

using kernel::Base;
using kernel::BinaryOp;
using kernel::Expr;

Expr named_value(const std::string& text) {
  return {kernel::Name{text}, {}, {}, 3};
}
Expr digits(const std::string& spelling) {
  return {kernel::Literal{spelling}, {}, {}, 3};
}
Expr binary_of(BinaryOp op, Expr left, Expr right) {
  return {kernel::Binary{op}, {std::move(left), std::move(right)}, {}, 3};
}
Expr unary_of(kernel::UnaryOp op, Expr operand) {
  return {kernel::Unary{op}, {std::move(operand)}, {}, 3};
}
Expr cast_to(Base base, Expr operand) {
  return {kernel::Cast{kernel::scalar(base)}, {std::move(operand)}, {}, 3};
}
Expr assignment(Expr target, Expr value, std::optional<BinaryOp> op = {}) {
  return {kernel::Assign{op}, {std::move(target), std::move(value)}, {}, 3};
}
Expr item_at(const std::string& array, Expr index) {
  return {kernel::Index{}, {named_value(array), std::move(index)}, {}, 3};
}
Expr called(const std::string& function, std::vector<Expr> arguments) {
  return {kernel::Call{function}, std::move(arguments), {}, 3};
}

/// `double complex f(double complex z, double d, float complex s, double complex *p, int i)`.
kernel::KernelBody kernel_of(kernel::Body statements) {
  kernel::FunctionDef function;
  function.name = "f";
  function.result = kernel::scalar(Base::complex128);
  function.parameters = {{"z", kernel::scalar(Base::complex128), 1},
                         {"d", kernel::scalar(Base::float64), 1},
                         {"s", kernel::scalar(Base::complex64), 1},
                         {"p", kernel::pointer_to(kernel::scalar(Base::complex128)), 1},
                         {"i", kernel::scalar(Base::int32), 1}};
  function.body = std::move(statements);
  return kernel::infer_types({{}, {std::move(function)}});
}

/// What an expression becomes.
std::string made(Expr expr, ComplexBy how = ComplexBy::functions) {
  kernel::KernelBody body = kernel_of({{kernel::Evaluate{std::move(expr)}, 3}});
  spell_out_complex(body, how);
  const auto& statement = std::get<kernel::Evaluate>(body.functions.front().body.front().node);
  const Dialect& dialect = how == ComplexBy::functions ? opencl_dialect() : cuda_dialect();
  return expression_text(statement.value, dialect, {});
}

TEST(ComplexNumbers, ProductsAndQuotientsAreCalls) {
  EXPECT_EQ(made(binary_of(BinaryOp::multiply, named_value("z"), named_value("z"))),
            "op2_complex128_multiply(z, z)");
  EXPECT_EQ(made(binary_of(BinaryOp::divide, named_value("s"), named_value("s"))),
            "op2_complex64_divide(s, s)");
  EXPECT_EQ(made(binary_of(BinaryOp::add, named_value("z"), named_value("z"))), "z + z");
  EXPECT_EQ(made(binary_of(BinaryOp::multiply, named_value("d"), named_value("d"))), "d * d");
}

TEST(ComplexNumbers, OperandsBecomeWhatTheResultIs) {
  EXPECT_EQ(made(binary_of(BinaryOp::add, named_value("z"), named_value("d"))),
            "z + op2_complex128(d, 0)");
  EXPECT_EQ(made(binary_of(BinaryOp::subtract, named_value("s"), named_value("z"))),
            "op2_complex128_from(s) - z");
  EXPECT_EQ(
      made(binary_of(BinaryOp::add, named_value("z"), named_value("d")), ComplexBy::operators),
      "z + (op2_complex128)d");
}

TEST(ComplexNumbers, SubscriptsEitherWay) {
  EXPECT_EQ(made(unary_of(kernel::UnaryOp::minus,
                          {kernel::Index{}, {digits("0"), named_value("p")}, {}, 3})),
            "-p[0]");
  EXPECT_EQ(made(assignment(named_value("d"),
                            {kernel::Index{}, {named_value("i"), named_value("p")}, {}, 3},
                            BinaryOp::add)),
            "d = (double)creal(op2_complex128(d, 0) + p[i])");
}

TEST(ComplexNumbers, WhatNobodyDeclaredIsLeftToTheCompiler) {
  EXPECT_EQ(made(assignment(named_value("z"), named_value("nobody"), BinaryOp::add)),
            "z = z + nobody");
  EXPECT_EQ(made(assignment(named_value("z"), called("nobody", {named_value("z")}))),
            "z = nobody(z)");
}

TEST(ComplexNumbers, Comparisons) {
  EXPECT_EQ(made(binary_of(BinaryOp::equal, named_value("z"), named_value("i"))),
            "op2_complex128_equal(z, op2_complex128(i, 0))");
  EXPECT_EQ(made(binary_of(BinaryOp::not_equal, named_value("z"), named_value("s"))),
            "!op2_complex128_equal(z, op2_complex128_from(s))");
  EXPECT_EQ(made(unary_of(kernel::UnaryOp::logical_not, named_value("s"))),
            "!(!op2_complex64_equal(s, op2_complex64(0, 0)))");
  EXPECT_EQ(made(binary_of(BinaryOp::logical_and, named_value("z"), named_value("d")),
                 ComplexBy::operators),
            "(z != (op2_complex128)0) && d");
}

TEST(ComplexNumbers, Assignments) {
  EXPECT_EQ(made(assignment(named_value("z"), digits("1.0"))), "z = op2_complex128(1.0, 0)");
  EXPECT_EQ(made(assignment(named_value("d"), named_value("z"))), "d = (double)creal(z)");
  EXPECT_EQ(made(assignment(named_value("z"), named_value("d"), BinaryOp::add)),
            "z = z + op2_complex128(d, 0)");
  EXPECT_EQ(made(assignment(named_value("d"), named_value("z"), BinaryOp::multiply)),
            "d = (double)creal(op2_complex128_multiply(op2_complex128(d, 0), z))");
  EXPECT_EQ(made(assignment(named_value("d"), named_value("d"), BinaryOp::multiply)), "d *= d");
}

TEST(ComplexNumbers, Casts) {
  EXPECT_EQ(made(cast_to(Base::complex64, named_value("z"))), "op2_complex64_from(z)");
  EXPECT_EQ(made(cast_to(Base::complex128, named_value("z"))), "z");
  EXPECT_EQ(made(cast_to(Base::float32, named_value("s"))), "(float)crealf(s)");
  EXPECT_EQ(made(cast_to(Base::int64, named_value("d"))), "(long)d");
  EXPECT_EQ(made(cast_to(Base::boolean, named_value("z"))),
            "(_Bool)(!op2_complex128_equal(z, op2_complex128(0, 0)))");
}

TEST(ComplexNumbers, ConjugatesAndUnits) {
  EXPECT_EQ(made(unary_of(kernel::UnaryOp::bit_not, named_value("s"))), "conjf(s)");
  EXPECT_EQ(made(unary_of(kernel::UnaryOp::bit_not, named_value("i"))), "~i");
  Expr unit = called("complex", {digits("0.0f"), digits("1.0f")});
  unit.type = kernel::scalar(Base::complex64);
  kernel::KernelBody body = kernel_of({{kernel::Return{named_value("d")}, 3}});
  body.functions.front().body.push_back({kernel::Evaluate{unit}, 4});
  spell_out_complex(body, ComplexBy::functions);
  const kernel::Body& statements = body.functions.front().body;
  const auto& returned = std::get<kernel::Return>(statements[0].node);
  EXPECT_EQ(expression_text(*returned.value, opencl_dialect(), {}), "op2_complex128(d, 0)");
  const auto& evaluated = std::get<kernel::Evaluate>(statements[1].node);
  EXPECT_EQ(expression_text(evaluated.value, opencl_dialect(), {}), "op2_complex64(0.0f, 1.0f)");
}

TEST(ComplexNumbers, TablesBecomeLocal) {
  kernel::Type type = kernel::scalar(Base::complex128);
  type.is_const = true;
  type.derivation = {{.kind = kernel::Derivation::Kind::array, .extent = 2}};
  Expr values{kernel::InitList{}, {digits("1"), digits("2.0")}, {}, 1};
  kernel::KernelBody body = kernel_of({{kernel::Evaluate{item_at("w", digits("0"))}, 3}});
  body.tables = {{"w", type, values, 1}, {"unused", type, values, 2}};
  body = kernel::infer_types(std::move(body));
  spell_out_complex(body, ComplexBy::functions);
  EXPECT_TRUE(body.tables.empty());
  ASSERT_EQ(body.functions.front().body.size(), 2U);
  const auto& declared = std::get<kernel::Declare>(body.functions.front().body.front().node);
  EXPECT_EQ(variables_text(declared, opencl_dialect(), {}),
            "const double2 w[2] = {op2_complex128(1, 0), op2_complex128(2.0, 0)}");
}

TEST(ComplexNumbers, CountingIsAssigning) {
  EXPECT_EQ(made(unary_of(kernel::UnaryOp::post_increment, named_value("z"))),
            "z = z + op2_complex128(1, 0)");
  EXPECT_EQ(made(unary_of(kernel::UnaryOp::pre_decrement, named_value("s")), ComplexBy::operators),
            "s = s - (op2_complex64)1");
  const Expr moving = item_at("p", unary_of(kernel::UnaryOp::post_increment, named_value("i")));
  EXPECT_EQ(made(assignment(moving, named_value("z"))), "p[i++] = z");
}

/// The statements of a kernel whose updates of complex numbers are plain, one on a line.
std::vector<std::string> updated(kernel::Body statements) {
  const kernel::KernelBody body = with_plain_updates(kernel_of(std::move(statements)));
  std::vector<std::string> lines;
  for (const kernel::Stmt& stmt : body.functions.front().body) {
    if (const auto* declared = std::get_if<kernel::Declare>(&stmt.node)) {
      lines.push_back(variables_text(*declared, c_dialect(), {}));
    } else {
      const auto& evaluated = std::get<kernel::Evaluate>(stmt.node);
      lines.push_back(expression_text(evaluated.value, c_dialect(), {}));
    }
  }
  return lines;
}
std::vector<std::string> updated(Expr expr) {
  return updated({{kernel::Evaluate{std::move(expr)}, 3}});
}

TEST(ComplexNumbers, UpdatesFindTheirTargetsOnce) {
  using Lines = std::vector<std::string>;
  const Expr next = unary_of(kernel::UnaryOp::post_increment, named_value("i"));
  EXPECT_EQ(updated(assignment(item_at("p", next), named_value("z"), BinaryOp::multiply)),
            (Lines{"int op2_value1 = i", "i++", "p[op2_value1] *= z"}));
  EXPECT_EQ(updated(assignment(named_value("z"),
                               unary_of(kernel::UnaryOp::post_decrement, item_at("p", next)))),
            (Lines{"int op2_value1 = i", "i++", "double _Complex op2_value2 = p[op2_value1]",
                   "p[op2_value1]--", "z = op2_value2"}));
}

TEST(ComplexNumbers, UpdatesThatArePlainStay) {
  using Lines = std::vector<std::string>;
  const Expr step = unary_of(kernel::UnaryOp::post_increment, named_value("z"));
  EXPECT_EQ(updated(step), Lines{"z++"});
  // no operator of complex numbers is spelt out here
  const Expr next = unary_of(kernel::UnaryOp::post_increment, named_value("i"));
  EXPECT_EQ(updated(assignment(item_at("p", next), named_value("z"))), Lines{"p[i++] = z"});
}

TEST(ComplexNumbers, OfSeveralElementsHaveFunctionsAlready) {
  const kernel::Type lanes = kernel::on_lanes(Base::complex128, 4);
  Expr zero{
      kernel::InitList{}, {{kernel::Literal{"0"}, {}, kernel::scalar(Base::int32), 3}}, lanes, 3};
  const kernel::Body before{{kernel::Declare{false, {{"v", lanes, zero, 3}}}, 3}};
  kernel::KernelBody body{{}, {{"f", kernel::scalar(Base::none), {}, before}}};
  spell_out_complex(body, ComplexBy::functions);
  EXPECT_EQ(body.functions.front().body, before);
  EXPECT_EQ(expression_text(zero, opencl_dialect(), {}), "{0}");
  zero.type = kernel::on_lanes(Base::float64, 4);
  EXPECT_EQ(expression_text(zero, opencl_dialect(), {}), "{((op2_float64x4)(0))}");
}

}  // namespace
}  // namespace op2::cg
