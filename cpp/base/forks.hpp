// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace op2 {

/// @brief How often the line of this process was forked since the first call in it.
///
/// What a driver gave to a process is useless in its children: who holds such a thing remembers the
/// number of its making, and finds in a child that it has grown. Costs a load.
[[nodiscard]] std::int64_t forks_so_far();

}  // namespace op2
