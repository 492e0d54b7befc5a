// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ast.hpp"

/// Kernels with sums over products of one-dimensional tables, for tests.
namespace op2::kernel::ast {

/// @brief A table `T[n_points][n_functions]`; values do not matter.
inline Variable table(int n_points, int n_functions) {
  std::vector<Expr> rows;
  for (int q = 0; q < n_points; ++q) {
    std::vector<Expr> row;
    for (int i = 0; i < n_functions; ++i) row.push_back(lit("0.5"));
    rows.push_back({.node = InitList{}, .operands = std::move(row), .type = {}});
  }
  return {.name = "T",
          .type = array(array(number(), n_functions), n_points),
          .value = Expr{.node = InitList{}, .operands = std::move(rows), .type = {}}};
}
/// @brief `T[q][i]`
inline Expr entry(const std::string& q, const std::string& i) {
  return at(at(name("T"), name(q)), name(i));
}
/// @brief `array[n * i + j]`
inline Expr pair(const std::string& array, int n, const std::string& i, const std::string& j) {
  return at(name(array), add(mul(lit(std::to_string(n)), name(i)), name(j)));
}
/// @brief `x[2 * i + j] * T[p][i] * T[q][j]`
inline Expr product() {
  return mul(mul(pair("x", 4, "i", "j"), entry("p", "i")), entry("q", "j"));
}
/// @brief Loops over 5 x 5 points.
inline KernelBody over_points(Body body) {
  return kernel_with({function("k", {{"x", pointer()}, {"y", pointer()}},
                               {loop("p", 5, {loop("q", 5, std::move(body))})})},
                     {table(5, 4)});
}
/// @brief Loops over 4 x 4 functions.
inline Stmt over_functions(Body body) {
  return loop("i", 4, {loop("j", 4, std::move(body))});
}
/// @brief `double s = 0.0`, a sum of products, and `y[...] = s` at each point.
inline Body evaluation(Expr summand) {
  return {declare("s", number(), lit("0.0")),
          over_functions({eval(update(BinaryOp::add, name("s"), std::move(summand)))}),
          eval(assign(pair("y", 5, "p", "q"), name("s")))};
}
/// @brief `y[4 * i + j] += g * T[p][i] * T[q][j]` at each point.
inline Stmt transposed(Expr g) {
  return over_functions({eval(update(BinaryOp::add, pair("y", 4, "i", "j"),
                                     mul(mul(std::move(g), entry("p", "i")), entry("q", "j"))))});
}

}  // namespace op2::kernel::ast
