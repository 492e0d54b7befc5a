// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernel/body.hpp"

namespace op2::kernel {

/// @brief What a kernel's tree promises, each form more than the one before.
enum class KernelForm : std::uint8_t {
  user,   ///< nodes have their operands, types are those of infer_types(), jumps stay in loops
  named,  ///< a name is declared once in its function and used where it is visible
  plain,  ///< what plain() makes
};

/// @brief Refuse a tree that breaks what @p form promises.
///
/// Names that nothing declares may be Consts, and unknown functions may come from headers: both are
/// the compiler's to refuse.
///
/// @throws InternalError with the function, the line and what is wrong.
void verify(const KernelBody& body, KernelForm form);

}  // namespace op2::kernel
