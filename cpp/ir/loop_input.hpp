// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ir/kernel_checks.hpp"
#include "ir/loop.hpp"

namespace op2::ir {

/// @brief What a loop hands to its kernel: how much is behind each parameter, what it is used for,
/// and what is the same for all elements. The layer, a number, has none of this.
[[nodiscard]] CheckInput check_input(const Loop& loop);

}  // namespace op2::ir
