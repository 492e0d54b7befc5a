// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "cg/dialect.hpp"
#include "kir/nodes.hpp"

namespace op2::cg {

/// @brief The text of a translation unit by its parts, in their order. A template puts them
/// together, with what is the same in all units. Parts but the first begin with an empty line.
struct Sections {
  std::string kernels;   ///< what the user wrote, and what that calls
  std::string wrappers;  ///< functions that carry the kernels out for a range of work items
  std::string launch;    ///< what the host calls; empty where that is the runtime's affair
};

/// @brief Print a module.
/// @param[in] line_markers Say which lines of the user's kernels the text comes from.
/// @param[in] linkage Before the launch function's type: `extern "C" ` in C++ text.
[[nodiscard]] Sections print_source(const kir::Module& module, const Dialect& dialect,
                                    bool line_markers, const std::string& linkage);

}  // namespace op2::cg
