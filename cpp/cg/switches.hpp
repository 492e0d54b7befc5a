// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ir/kernel_body.hpp"

namespace op2::cg {

/// @brief Write each `switch` as a row of `if`s that says the same, for compilers that get them
/// wrong.
///
/// A `switch` that is left by a `break` inside of a condition, or whose cases share variables that
/// are declared in one of them, stays.
void spell_out_switches(ir::KernelBody& body);

}  // namespace op2::cg
