// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "kir/nodes.hpp"

namespace op2::lower {

/// @brief What functions that are called need: compilers of devices keep the arrays of each call.
enum class Calls : std::uint8_t { inlined, one_at_a_time };

/// @brief Bytes of the arrays that one lane of @p function has to itself: those of the wrapper and
/// those of the kernels that it calls. Scalars are left to registers.
[[nodiscard]] std::int64_t private_bytes(const kir::Function& function, const kir::Module& module,
                                         Calls calls = Calls::inlined);

/// @brief Bytes of the arrays that a kernel declares, and of those of the functions that it calls.
[[nodiscard]] std::int64_t array_bytes(const kernel::KernelBody& body);

/// @brief Whether the arrays of one lane of each launched function fit on the stack of a thread,
/// where drivers of processors put them.
[[nodiscard]] bool fits_on_a_stack(const kir::Module& module);

/// @brief On a processor, allow every launched function only so many lanes in a block that all
/// their arrays fit into @p stack_bytes of one thread's stack, where drivers put those of a whole
/// block.
/// @throws UnsupportedError if those of one lane do not fit there, or in what a GPU's lane has.
void limit_lanes(kir::Module& module, bool is_processor, int stack_bytes);

/// @brief Bytes of the arrays that one call of a function of the host needs at most.
[[nodiscard]] std::int64_t host_bytes(const kir::Module& module);

/// @brief Check that the arrays of one element fit into @p stack_bytes, on a thread of the host.
/// @throws UnsupportedError if they do not; the thread would end the process.
void check_stack(const kir::Module& module, int stack_bytes);

}  // namespace op2::lower
