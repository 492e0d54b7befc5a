// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernel/body.hpp"

namespace op2::kernel {

/// @brief What a kernel's tree promises, each form more than the one before.
enum class KernelForm : std::uint8_t {
  user,   ///< nodes have their operands, types are those of infer_types()
  named,  ///< a name is declared once in its function and used where it is visible
  plain,  ///< what plain() makes
};

/// @brief Refuse a tree that breaks what @p form promises.
///
/// What users may have done wrong is for the compiler to refuse: names that nothing declares, which
/// may be Consts, unknown functions, jumps outside of loops.
///
/// @throws InternalError with the function, the line and what is wrong.
void verify(const KernelBody& body, KernelForm form);

}  // namespace op2::kernel
