// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "kernel/known_functions.hpp"

namespace op2::cg {

/// @brief A function of the C library in another language.
struct LibraryFunction {
  std::string name;
  bool cast_result = false;  ///< its result has another type than C's
  bool is_literal = false;   ///< a constant: `name` is its text, and takes no arguments
};

/// @brief In OpenCL C: overloads instead of a letter for the type. Memory functions are helpers.
[[nodiscard]] LibraryFunction opencl_library(const kernel::KnownFunction& function);

/// @brief In CUDA C++: C's names, but no builtins.
[[nodiscard]] LibraryFunction cuda_library(const kernel::KnownFunction& function);

}  // namespace op2::cg
