// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "kernel/body.hpp"
#include "kernel/integers.hpp"

namespace op2::kernel {

/// @brief Which loops count as loops along rows.
struct RowLimits {
  std::int64_t steps = 0;     ///< they have at least so many
  std::int64_t scalars = 64;  ///< of an array of the kernel's own that stays in registers, at most
};

/// @brief True if compilers turn a loop inside a kernel into vectors well by themselves.
///
/// It has enough steps, whose number can be told, one by one along contiguous memory:
/// each access moves by one value or stays where it is. What it computes goes to memory once, or is
/// summed in a small array of the kernel's own, which stays in registers. There is nothing else in
/// it than arithmetic, and loops that do not depend on it.
[[nodiscard]] bool runs_along_rows(const For& loop, const Integers& known, const RowLimits& limits);

/// @brief True if there is another loop in the body of @p loop.
[[nodiscard]] bool has_inner_loop(const For& loop);

}  // namespace op2::kernel
