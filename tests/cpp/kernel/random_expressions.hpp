// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ast.hpp"

namespace op2::kernel::ast {

/// Expressions of every kind of node over names of every type. What C would reject comes, too: a
/// compiler tells of it, so it must get that far.
class RandomExpressions {
 public:
  explicit RandomExpressions(unsigned seed) : random_(seed) {}

  Expr expression(int depth) {
    if (depth == 0) return leaf();
    const auto next = [this, depth] { return expression(depth - 1); };
    switch (below(10)) {
      case 0:
        return unary(static_cast<UnaryOp>(below(10)), next());
      case 1:
        return binary(static_cast<BinaryOp>(below(19)), next(), next());
      case 2:
        return assign(next(), next());
      case 3:
        return update(static_cast<BinaryOp>(below(12)), next(), next());
      case 4:
        return ternary(next(), next(), next());
      case 5:
        return at(next(), next());
      case 6:
        return cast(type(), next());
      case 7:
        return called(depth);
      case 8:
        return {SizeOf{}, {next()}, {}, 3};
      default:
        return at(name(pick(arrays())), next());
    }
  }

  Stmt statement(int depth) {
    Expr value = expression(depth);
    switch (below(6)) {
      case 0:
        return branch(std::move(value), {eval(expression(depth))});
      case 1:
        return {While{std::move(value), {eval(expression(depth))}, below(2) == 0}, 3};
      case 2:
        return declare("t", type(), std::move(value));
      case 3:
        return declare("t", array(scalar(base()), 2),
                       Expr{InitList{}, {std::move(value), leaf()}, {}, 3});
      case 4:
        return {Switch{std::move(value), {{lit("1"), {eval(leaf())}}, {std::nullopt, {}}}}, 3};
      default:
        return eval(std::move(value), 3);
    }
  }

  /// A kernel with a helper and a table, whose parameters are of all types.
  KernelBody body(int n_statements, int depth) {
    FunctionDef helper = function("h", {{"v", pointer()}, {"d", number()}}, {});
    helper.result = number();
    helper.body.push_back(give(at("v", 0)));
    std::vector<Parameter> parameters;
    for (int i = first_base; i <= last_base; ++i) {
      const auto base = static_cast<Base>(i);
      parameters.push_back({"s" + std::to_string(i), scalar(base)});
      parameters.push_back({"p" + std::to_string(i), pointer_to(scalar(base))});
    }
    Body statements;
    for (int i = 0; i < n_statements; ++i) statements.push_back(statement(depth));
    Variable table{"table", array(array(number(), 2), 1), std::nullopt, 1};
    table.value = Expr{InitList{}, {{InitList{}, {lit("1.0"), lit("2")}, {}, 1}}, {}, 1};
    return kernel_with({std::move(helper), function("k", parameters, std::move(statements))},
                       {table});
  }

 private:
  static constexpr int first_base = static_cast<int>(Base::boolean);
  static constexpr int last_base = static_cast<int>(Base::complex128);

  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  const std::string& pick(const std::vector<std::string>& from) {
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }
  Base base() { return static_cast<Base>(first_base + below(last_base - first_base + 1)); }
  Type type() { return below(3) == 0 ? pointer_to(scalar(base())) : scalar(base()); }

  static const std::vector<std::string>& arrays() {
    static const std::vector<std::string> names{"p2", "p9", "p11", "p12", "p13", "p14", "table"};
    return names;
  }

  Expr leaf() {
    static const std::vector<std::string> literals{"0", "1.5", "2.0f", "'a'", "3u", "\"x\"", "7LL"};
    switch (below(4)) {
      case 0:
        return lit(pick(literals));
      case 1:
        return name(pick(arrays()));
      case 2:
        return name("nobody");
      default:
        return name("s" + std::to_string(static_cast<int>(base())));
    }
  }

  Expr called(int depth) {
    static const std::vector<std::string> functions{"h",    "sin",    "sqrtf",  "pow",   "abs",
                                                    "conj", "memcpy", "nobody", "creal", "cexpf",
                                                    "fmin", "memset", "ldexp",  "cabs",  "h"};
    const std::string& function = pick(functions);
    std::vector<Expr> arguments;
    for (int i = 0; i < (function == "memcpy" || function == "memset" ? 3 : 2); ++i) {
      arguments.push_back(expression(depth - 1));
    }
    return call(function, std::move(arguments));
  }

  std::mt19937 random_;
};

}  // namespace op2::kernel::ast
