// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cg/context.hpp"
#include "ir/kernel_body.hpp"

namespace op2::cg {

/// @brief Define every vector type and every function over lanes (ir/lane_functions.hpp) that
/// @p body uses.
void define_lanes(Context& context, const ir::KernelBody& body);

}  // namespace op2::cg
