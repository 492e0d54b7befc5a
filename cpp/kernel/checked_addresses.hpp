// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <string>

#include "kernel/body.hpp"

namespace op2::kernel {

/// @brief Names of the local scalars that a function declares without an initial value.
[[nodiscard]] std::set<std::string> scalars_without_value(const FunctionDef& function);

/// @brief Declare local scalars that get their values through pointers as arrays of one.
///
/// `double t; f(&t);` becomes `double t[1]; f(&t[0]);`, so that what watches the scalars of arrays
/// finds a `t` that is used before it has a value, here and in `f`. Scalars with an initial value
/// stay, and those whose address goes where pointers are not followed: into other types, arrays,
/// structures, or out of a function.
///
/// @param[in] named The kernel, with unique names and types.
[[nodiscard]] KernelBody with_addressed_arrays(KernelBody named);

/// @brief @p pointer without casts to other types of pointers around it.
[[nodiscard]] const Expr& without_casts(const Expr& pointer);

}  // namespace op2::kernel
