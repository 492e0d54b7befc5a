// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "ir/kernel_ir.hpp"

namespace op2::lower {

/// @brief Bytes of the arrays that one lane of @p function has to itself: those of the wrapper and
/// those of the kernels that it calls. Scalars are left to registers.
[[nodiscard]] std::int64_t private_bytes(const kir::Function& function, const kir::Module& module);

/// @brief Whether the arrays of one lane of each launched function fit on the stack of a thread,
/// where drivers of processors put them.
[[nodiscard]] bool fits_on_a_stack(const kir::Module& module);

/// @brief On a processor, allow every launched function only so many lanes in a block that all
/// their arrays fit into @p stack_bytes of one thread's stack, where drivers put those of a whole
/// block.
/// @throws UnsupportedError if those of one lane do not fit there, or in what a GPU's lane has.
void limit_lanes(kir::Module& module, bool is_processor, int stack_bytes);

}  // namespace op2::lower
