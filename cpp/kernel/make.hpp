// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernel/body.hpp"
#include "kernel/integers.hpp"

/// Expressions and statements that passes over kernels add; types are for infer_types() to find.
namespace op2::kernel::make {

[[nodiscard]] inline Expr of(ExprNode node, std::vector<Expr> operands, int line) {
  return {.node = std::move(node), .operands = std::move(operands), .type = {}, .line = line};
}
[[nodiscard]] inline Expr number(std::int64_t value) {
  Expr digits = of(Literal{std::to_string(value < 0 ? -value : value)}, {}, 0);
  return value < 0 ? of(Unary{UnaryOp::minus}, {std::move(digits)}, 0) : digits;
}
[[nodiscard]] inline Expr name(std::string text) {
  return of(Name{std::move(text)}, {}, 0);
}
[[nodiscard]] inline Expr binary(BinaryOp op, Expr left, Expr right) {
  const int line = left.line;
  return of(Binary{op}, {std::move(left), std::move(right)}, line);
}
[[nodiscard]] inline Expr comma(Expr left, Expr right) {
  return binary(BinaryOp::comma, std::move(left), std::move(right));
}
[[nodiscard]] inline Expr assign(Expr target, Expr value) {
  const int line = value.line;
  return of(Assign{}, {std::move(target), std::move(value)}, line);
}
[[nodiscard]] inline Expr index(Expr array, Expr at) {
  const int line = array.line;
  return of(Index{}, {std::move(array), std::move(at)}, line);
}
[[nodiscard]] inline Expr call(std::string function, std::vector<Expr> arguments) {
  return of(Call{std::move(function)}, std::move(arguments), 0);
}
[[nodiscard]] inline Expr cast(const Type& target, Expr value) {
  const int line = value.line;
  return of(Cast{target}, {std::move(value)}, line);
}
[[nodiscard]] inline Expr ternary(Expr condition, Expr yes, Expr no) {
  const int line = condition.line;
  return of(Ternary{}, {std::move(condition), std::move(yes), std::move(no)}, line);
}

/// @brief The value of a number that number() made.
[[nodiscard]] inline std::optional<std::int64_t> value_of(const Expr& expr) {
  return integer_value(expr, {});
}

/// Sums fold numbers, so that text stays readable.
[[nodiscard]] inline Expr sum(BinaryOp op, Expr left, Expr right) {
  const auto a = value_of(left);
  const auto b = value_of(right);
  if (a && b && (op == BinaryOp::add || op == BinaryOp::subtract)) {
    return number(op == BinaryOp::add ? *a + *b : *a - *b);
  }
  if (b && *b == 0) return left;
  return binary(op, std::move(left), std::move(right));
}
[[nodiscard]] inline Expr times(Expr left, std::int64_t right) {
  if (right == 1) return left;
  const auto a = value_of(left);
  return a ? number(*a * right) : binary(BinaryOp::multiply, std::move(left), number(right));
}
[[nodiscard]] inline Expr over(Expr left, std::int64_t right) {
  if (right == 1) return left;
  const auto a = value_of(left);
  return a ? number(*a / right) : binary(BinaryOp::divide, std::move(left), number(right));
}

[[nodiscard]] inline Stmt evaluate(Expr value) {
  const int line = value.line;
  return {.node = Evaluate{std::move(value)}, .line = line};
}
[[nodiscard]] inline Stmt declare(std::string name, Type type, std::optional<Expr> value) {
  Variable variable{
      .name = std::move(name), .type = std::move(type), .value = std::move(value), .line = 0};
  return {.node = Declare{.is_static = false, .variables = {std::move(variable)}}, .line = 0};
}

}  // namespace op2::kernel::make
