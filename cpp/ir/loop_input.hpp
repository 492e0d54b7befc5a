// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ir/loop.hpp"
#include "kernel/checks.hpp"

namespace op2::ir {

/// @brief What a loop hands to its kernel: how much is behind each parameter, what it is used for,
/// and what is the same for all elements. The layer, a number, has none of this.
[[nodiscard]] kernel::CheckInput check_input(const Loop& loop);

/// @brief The Consts that a member's kernel uses, as variables with their types.
[[nodiscard]] std::vector<kernel::Variable> const_variables(const Group& group, std::size_t member);

}  // namespace op2::ir
