// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "lower/builder.hpp"

namespace op2::lower {

/// @brief Elements of one pass must not see each other's results, which they all load before the
/// first one stores.
/// @throws Refusal naming the argument and what it shares.
void check_side_by_side(const Request& request);

/// @brief The loop's kernel for several elements, its Consts as parameters: what differs by element
/// are the values behind every argument but Globals that are read, and the layer.
/// @throws Refusal if the kernel is opaque, or saying what of it masks cannot do.
[[nodiscard]] std::shared_ptr<const ir::Kernel> kernel_for_lanes(const Request& request);

}  // namespace op2::lower
