// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "cg/context.hpp"
#include "cg/kernel_expressions.hpp"
#include "kernel/body.hpp"

namespace op2::cg {

/// @brief The word in front of a loop that GCC is to leave as it is; Clang's code is better if it
/// may do as it likes.
[[nodiscard]] std::string_view rolled(Context& context);

/// @brief Print a kernel's tables and functions, ready to be called.
///
/// All functions get internal linkage. An opaque kernel is printed as the user wrote it. Printing a
/// kernel twice into one context prints its functions once.
///
/// @return The entry function's name in this text: the kernel's, unless that was taken.
std::string print_kernel(Context& context, const kernel::Kernel& kernel,
                         const KernelStyle& style = {});

}  // namespace op2::cg
