// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "cg/dialect.hpp"
#include "ir/kernel_ir.hpp"

namespace op2::cg {

/// @brief The body of a translation unit: the module's kernels, its wrappers, and where it is not
/// the runtime's affair its launch function.
/// @param[in] line_markers Say which lines of the user's kernels the text comes from.
/// @param[in] linkage Before the launch function's type: `extern "C" ` in C++ text.
[[nodiscard]] std::string print_source(const kir::Module& module, const Dialect& dialect,
                                       bool line_markers, const std::string& linkage);

}  // namespace op2::cg
