// SPDX-License-Identifier: BSD-3-Clause
#include "cg/complex_effects.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/overload.hpp"
#include "cg/dialect.hpp"
#include "cg/kernel_expressions.hpp"
#include "kernel/types.hpp"

namespace op2::cg {
namespace {

using kernel::Base;
using kernel::BinaryOp;
using kernel::Expr;
using kernel::UnaryOp;

Expr variable(const std::string& text) {
  return {kernel::Name{text}, {}, {}, 3};
}
Expr unary_expr(UnaryOp op, Expr operand) {
  return {kernel::Unary{op}, {std::move(operand)}, {}, 3};
}
Expr binary_expr(BinaryOp op, Expr left, Expr right) {
  return {kernel::Binary{op}, {std::move(left), std::move(right)}, {}, 3};
}
Expr assigned(Expr target, Expr value, std::optional<BinaryOp> op = {}) {
  return {kernel::Assign{op}, {std::move(target), std::move(value)}, {}, 3};
}
Expr element_at(const std::string& array, Expr index) {
  return {kernel::Index{}, {variable(array), std::move(index)}, {}, 3};
}
Expr next(const std::string& text) {
  return unary_expr(UnaryOp::post_increment, variable(text));
}

/// `void f(double complex z, double *d, float complex *p, int i, int place)`, on one line a
/// statement.
std::vector<std::string> declared(kernel::Body statements) {
  kernel::FunctionDef function;
  function.name = "f";
  function.result = kernel::scalar(Base::none);
  function.parameters = {{"z", kernel::scalar(Base::complex128), 1},
                         {"d", kernel::pointer_to(kernel::scalar(Base::float64)), 1},
                         {"p", kernel::pointer_to(kernel::scalar(Base::complex64)), 1},
                         {"i", kernel::scalar(Base::int32), 1},
                         {"place", kernel::scalar(Base::int32), 1}};
  function.body = std::move(statements);
  kernel::KernelBody body = kernel::infer_types({{}, {std::move(function)}});
  spell_out_effects(body);
  std::vector<std::string> lines;
  for (const kernel::Stmt& stmt : body.functions.front().body) {
    if (const auto* declared = std::get_if<kernel::Declare>(&stmt.node)) {
      lines.push_back(variables_text(*declared, c_dialect(), {}));
    } else if (const auto* value = std::get_if<kernel::Evaluate>(&stmt.node)) {
      lines.push_back(expression_text(value->value, c_dialect(), {}));
    } else if (const auto* loop = std::get_if<kernel::For>(&stmt.node)) {
      lines.push_back(expression_text(*loop->step, c_dialect(), {}));
    }
  }
  return lines;
}
std::vector<std::string> declared(Expr expr) {
  return declared({{kernel::Evaluate{std::move(expr)}, 3}});
}

using Lines = std::vector<std::string>;

TEST(ComplexEffects, CountingBefore) {
  EXPECT_EQ(declared(unary_expr(UnaryOp::pre_increment, variable("z"))), Lines{"z += 1"});
  EXPECT_EQ(declared(assigned(variable("z"),
                              unary_expr(UnaryOp::pre_decrement, element_at("p", variable("i"))))),
            Lines{"z = p[i] -= 1"});
}

TEST(ComplexEffects, CountingAfterKeepsTheValue) {
  EXPECT_EQ(declared(assigned(element_at("p", variable("i")), next("z"))),
            (Lines{"double _Complex before", "p[i] = (before = z, z += 1, before)"}));
}

TEST(ComplexEffects, UnusedValuesAreNotKept) {
  EXPECT_EQ(declared(next("z")), Lines{"z += 1"});
  EXPECT_EQ(declared(binary_expr(BinaryOp::comma, next("i"), next("z"))), Lines{"i++, z += 1"});
  EXPECT_EQ(declared(binary_expr(BinaryOp::comma, next("z"), next("i"))), Lines{"z += 1, i++"});
  kernel::For loop;
  loop.step = unary_expr(UnaryOp::post_decrement, variable("z"));
  EXPECT_EQ(declared({{loop, 3}}), Lines{"z -= 1"});
}

TEST(ComplexEffects, TargetsWithEffectsAreFoundOnce) {
  EXPECT_EQ(declared(assigned(element_at("p", next("i")), variable("z"), BinaryOp::multiply)),
            (Lines{"float _Complex *place2", "place2 = &p[i++], *place2 *= z"}));
  EXPECT_EQ(
      declared(assigned(unary_expr(UnaryOp::dereference, next("d")), variable("z"), BinaryOp::add)),
      (Lines{"double *place2", "place2 = d++, *place2 += z"}));
  EXPECT_EQ(declared(assigned(variable("z"),
                              unary_expr(UnaryOp::post_increment, element_at("p", next("i"))))),
            (Lines{"float _Complex *place2", "float _Complex before",
                   "z = (place2 = &p[i++], before = *place2, *place2 += 1, before)"}));
}

TEST(ComplexEffects, OfRealNumbersStay) {
  EXPECT_EQ(declared(assigned(element_at("d", next("i")), variable("i"), BinaryOp::multiply)),
            Lines{"d[i++] *= i"});
  EXPECT_EQ(declared(next("i")), Lines{"i++"});
  EXPECT_EQ(declared(assigned(element_at("p", next("i")), variable("z"))), Lines{"p[i++] = z"});
}

}  // namespace
}  // namespace op2::cg
