// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/body.hpp"

namespace op2::kernel {

/// @brief A function of the standard library that kernels may call with or without its header.
///
/// Generated C declares the few it uses instead of including headers: a kernel then compiles in a
/// fraction of the time.
struct KnownFunction {
  std::string name;
  Type result;
  std::vector<Type> parameters;
  int n_operations = 0;         ///< floating-point operations one call counts for
  bool needs_prototype = true;  ///< false for compilers' builtins
  int vectors_since = 0;        ///< first glibc 2.x with vector forms (libmvec); 0: none

  /// @brief True if the call stores through parameter @p i. Loads happen through all pointers to
  /// const; no known function has any other effect.
  [[nodiscard]] bool writes(std::size_t i) const;
};

/// @return The function called @p name, or nullptr. `__builtin_` variants are known too.
[[nodiscard]] const KnownFunction* known_function(std::string_view name);

}  // namespace op2::kernel
