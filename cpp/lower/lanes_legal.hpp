// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "lower/builder.hpp"

namespace op2::lower {

/// @brief Elements of one pass must not see each other's results, which they all load before the
/// first one stores. Of a Group each member is asked alone: what one of them writes another one
/// uses at the same item only (ir::why_not_fused).
/// @throws Refusal naming the argument and what it shares.
void check_side_by_side(const Request& request);

/// @brief The members' kernels for several elements, their Consts as parameters: what differs by
/// element are the values behind every argument but Globals that are read, and the layer.
/// @throws Refusal if a kernel is opaque, or saying what of it masks cannot do.
[[nodiscard]] std::vector<kernel::KernelPtr> kernels_for_lanes(const Request& request);

}  // namespace op2::lower
