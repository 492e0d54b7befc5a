// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "cg/context.hpp"
#include "kernel/body.hpp"

namespace op2::cg {

/// @brief Define every vector type and every function over lanes (kernel/lane_functions.hpp) that
/// @p body uses.
void define_lanes(Context& context, const kernel::KernelBody& body);

}  // namespace op2::cg
