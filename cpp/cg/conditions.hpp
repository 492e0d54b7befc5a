// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernel/body.hpp"

namespace op2::cg {

/// @brief Make `x != 0` of @p condition, a number of a floating-point type.
void compare_with_zero(kernel::Expr& condition);

/// @brief Compare with zero wherever C takes a floating-point number for a truth value: OpenCL C
/// has no such values before `?`, and older compilers have none at all.
void spell_out_conditions(kernel::KernelBody& body);

}  // namespace op2::cg
