// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ir/kernel_body.hpp"

namespace op2::ir {

/// @brief Rename locals so that each name is declared once in the function.
///
/// For analysis only: the new names (`x#2`) are not C. A name then stands for one variable
/// wherever it is met, and passes need no scopes.
[[nodiscard]] FunctionDef with_unique_names(FunctionDef function);

}  // namespace op2::ir
