// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "kernel/body.hpp"

namespace op2::kernel {

using NameSet = std::set<std::string, std::less<>>;

/// @brief Parameters and locals of all functions.
[[nodiscard]] NameSet local_names(const KernelBody& body);
/// @brief All that has a name in @p body: tables, functions, locals, and what is only used.
[[nodiscard]] NameSet names_in(const KernelBody& body);

/// @brief Gives names that nothing else has.
class FreshNames {
 public:
  explicit FreshNames(NameSet taken) : taken_(std::move(taken)) {}
  explicit FreshNames(const KernelBody& body) : FreshNames(names_in(body)) {}

  [[nodiscard]] bool has(std::string_view name) const { return taken_.contains(name); }
  /// @brief @p wanted, with as many `_` behind it as are needed. Taken from then on.
  [[nodiscard]] std::string take(std::string wanted) {
    while (!taken_.insert(wanted).second) wanted += '_';
    return wanted;
  }

 private:
  NameSet taken_;
};

}  // namespace op2::kernel
