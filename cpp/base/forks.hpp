// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace op2 {

/// @brief How often the line of this process was forked since the first call there.
///
/// Handles that a driver gave to a process are useless in its children. The owner of a handle
/// stores the number at creation, and a larger number later means a child. Costs a load.
[[nodiscard]] std::int64_t forks_so_far();

}  // namespace op2
