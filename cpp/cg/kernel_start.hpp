// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "kir/nodes.hpp"

namespace op2::cg {

/// @brief How many statements of a kernel's loop may run before those kernels are through that were
/// launched before it: they read arrays of the plan, Maps and lists of elements, which the host
/// makes, and nothing that kernels write.
///
/// So the wait for other kernels may stand behind them, in the loop. 0 if nothing is read ahead, or
/// if more than a loop over the grid is in the kernel: all of its lanes would have to have waited
/// then, also those that have no turn in the loop.
[[nodiscard]] std::size_t n_before_start(const kir::Function& kernel);

}  // namespace op2::cg
