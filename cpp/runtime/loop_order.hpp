// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/loop_nodes.hpp"

namespace op2::runtime {

/// @brief For each loop the earlier loops to wait for, where loops may run side by side.
///
/// These are the waits of the graph, and loops with common values written by one of the two: sums
/// into the same values may change places, but not run at once. A loop in the list twice has a
/// single scratch memory, so it waits for itself. Waits that follow from others are left out.
/// @param[in] after For each loop the waits of the graph.
/// @return Nothing at all if no two loops can run side by side, or if there are too many loops.
[[nodiscard]] std::vector<std::vector<std::size_t>> order_of(
    const std::vector<LoopKernel>& loops, const std::vector<std::vector<std::size_t>>& after);

}  // namespace op2::runtime
