// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/loop_nodes.hpp"

namespace op2::runtime {

/// @brief Of each loop those before it that it must wait for where loops may run side by side.
///
/// That are those that the graph says, and those that use the same values where one of the two
/// writes them: sums into the same values may change places, but not run at once. A loop that is
/// there twice has one scratch memory, so it waits for itself. What follows from other waits is
/// left out.
/// @param[in] after Of each loop those that the graph says.
/// @return Nothing at all if no two loops can run side by side, or if there are too many loops to
/// look at.
[[nodiscard]] std::vector<std::vector<std::size_t>> order_of(
    const std::vector<LoopKernel>& loops, const std::vector<std::vector<std::size_t>>& after);

}  // namespace op2::runtime
