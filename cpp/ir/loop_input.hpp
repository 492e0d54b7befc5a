// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ir/loop.hpp"
#include "kernel/checks.hpp"

namespace op2::ir {

/// @brief What a loop hands to its kernel: how much is behind each parameter, what it is used for,
/// and what is the same for all elements. The layer, a number, has none of this.
[[nodiscard]] kernel::CheckInput check_input(const Loop& loop);

}  // namespace op2::ir
