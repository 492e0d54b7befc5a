// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ir/loop.hpp"
#include "kernel/checks.hpp"

namespace op2::ir {

/// @brief What a loop hands to its kernel: how much is behind each parameter, what it is used for,
/// and what is the same for all elements. The layer, a number, has none of this; how much a READ
/// argument through a ragged Map has, elements do not have in common.
/// @param[in] extents Of parameters by number, where the caller knows better.
/// @param[in] rows Parameters, by number, that are as long as another one says.
[[nodiscard]] kernel::CheckInput check_input(const Loop& loop,
                                             const std::map<int, std::int64_t>& extents = {},
                                             const std::map<int, kernel::RowCount>& rows = {});

/// @brief The Consts that a member's kernel uses, as variables with their types.
[[nodiscard]] std::vector<kernel::Variable> const_variables(const Group& group, std::size_t member);

}  // namespace op2::ir
