// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <set>
#include <string>

#include "kernel/body.hpp"

namespace op2::kernel {

/// @brief Parameters, by position.
using ParameterSet = std::set<int>;

/// @brief Which parameters' memory the pointers of a function may point into.
///
/// Insensitive to the order of statements: a pointer that is assigned twice points to both.
class Aliases {
 public:
  /// @param[in] function With unique names, and with types.
  explicit Aliases(const FunctionDef& function);

  /// @brief What the value of a pointer, or the place an lvalue names, may lie in.
  [[nodiscard]] ParameterSet of(const Expr& expr) const;

 private:
  bool flow(const std::string& name, const Expr& value);
  bool flow_everywhere(const Expr& value);
  bool assign(const Expr& expr);
  [[nodiscard]] ParameterSet of_items(const Expr& list) const;

  std::map<std::string, ParameterSet> names_;
};

}  // namespace op2::kernel
