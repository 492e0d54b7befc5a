// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernel/body.hpp"
#include "kernel/types.hpp"

/// Short words to build kernels by hand in tests.
namespace op2::kernel::ast {

inline Expr lit(std::string spelling) {
  return {.node = Literal{std::move(spelling)}, .operands = {}, .type = {}};
}
inline Expr name(std::string text) {
  return {.node = Name{std::move(text)}, .operands = {}, .type = {}};
}
inline Expr unary(UnaryOp op, Expr argument) {
  return {.node = Unary{op}, .operands = {std::move(argument)}, .type = {}};
}
inline Expr binary(BinaryOp op, Expr left, Expr right) {
  return {.node = Binary{op}, .operands = {std::move(left), std::move(right)}, .type = {}};
}
inline Expr add(Expr left, Expr right) {
  return binary(BinaryOp::add, std::move(left), std::move(right));
}
inline Expr mul(Expr left, Expr right) {
  return binary(BinaryOp::multiply, std::move(left), std::move(right));
}
inline Expr less(Expr left, Expr right) {
  return binary(BinaryOp::less, std::move(left), std::move(right));
}
inline Expr assign(Expr target, Expr value) {
  return {.node = Assign{}, .operands = {std::move(target), std::move(value)}, .type = {}};
}
inline Expr update(BinaryOp op, Expr target, Expr value) {
  return {.node = Assign{op}, .operands = {std::move(target), std::move(value)}, .type = {}};
}
inline Expr ternary(Expr condition, Expr yes, Expr no) {
  return {.node = Ternary{},
          .operands = {std::move(condition), std::move(yes), std::move(no)},
          .type = {}};
}
inline Expr at(Expr array, Expr index) {
  return {.node = Index{}, .operands = {std::move(array), std::move(index)}, .type = {}};
}
inline Expr at(const std::string& array, int index) {
  return at(name(array), lit(std::to_string(index)));
}
inline Expr call(std::string function, std::vector<Expr> arguments) {
  return {.node = Call{std::move(function)}, .operands = std::move(arguments), .type = {}};
}
inline Expr cast(Type target, Expr argument) {
  return {.node = Cast{std::move(target)}, .operands = {std::move(argument)}, .type = {}};
}

inline Stmt eval(Expr value, int line = 0) {
  return {.node = Evaluate{std::move(value)}, .line = line};
}
inline Stmt declare(std::string text, Type type, std::optional<Expr> value = std::nullopt) {
  return {.node = Declare{
              .is_static = false,
              .variables = {
                  {.name = std::move(text), .type = std::move(type), .value = std::move(value)}}}};
}
inline Stmt branch(Expr condition, Body yes, Body no = {}) {
  return {.node = If{.condition = std::move(condition),
                     .then_body = std::move(yes),
                     .else_body = std::move(no)}};
}
/// `for (int i = 0; i < n; ++i)`
inline Stmt loop(const std::string& i, int n, Body body) {
  return {.node = For{.init = {declare(i, scalar(Base::int32), lit("0"))},
                      .condition = less(name(i), lit(std::to_string(n))),
                      .step = unary(UnaryOp::pre_increment, name(i)),
                      .body = std::move(body)}};
}
inline Stmt give(std::optional<Expr> value = std::nullopt) {
  return {.node = Return{std::move(value)}};
}

inline Type number() {
  return scalar(Base::float64);
}
inline Type pointer() {
  return pointer_to(scalar(Base::float64));
}
inline Type whole() {
  return scalar(Base::int32);
}
inline Type array(Type element, std::int64_t extent) {
  element.derivation.insert(element.derivation.begin(),
                            {.kind = Derivation::Kind::array, .extent = extent});
  return element;
}

inline FunctionDef function(std::string text, std::vector<Parameter> parameters, Body body) {
  return {.name = std::move(text),
          .result = scalar(Base::none),
          .parameters = std::move(parameters),
          .body = std::move(body)};
}
/// A kernel of these functions, with types; the last is the entry.
inline KernelBody kernel_with(std::vector<FunctionDef> functions,
                              std::vector<Variable> tables = {}) {
  return infer_types({.tables = std::move(tables), .functions = std::move(functions)});
}
/// A kernel `k(double *x, double *y)`.
inline KernelBody kernel_with(Body body) {
  return kernel_with({function("k", {{"x", pointer()}, {"y", pointer()}}, std::move(body))});
}

}  // namespace op2::kernel::ast
