// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <string>

#include "kernel/body.hpp"

namespace op2::kernel {

/// @brief Rename locals so that each name is declared once in the function.
///
/// For analysis only: the new names (`x#2`) are not C. A name then stands for one variable
/// wherever it is met, and passes need no scopes.
[[nodiscard]] FunctionDef with_unique_names(FunctionDef function);

/// @brief @p body with such names as C has them: `x#2` is `x_2`, or a longer name if that is taken.
[[nodiscard]] KernelBody spelled(KernelBody body);

/// @brief Names that @p body declares itself, not in blocks within it.
[[nodiscard]] std::set<std::string> declared_names(const Body& body);

/// @brief The user's name of what with_unique_names() calls @p name.
[[nodiscard]] std::string user_name(const std::string& name);

/// @brief The same for every function of a kernel, where a local has the name of no Const either.
[[nodiscard]] KernelBody with_unique_names(KernelBody body);

}  // namespace op2::kernel
