// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "ir/loop.hpp"

namespace op2::ir {

/// @brief The canonical form of a loop: equal strings mean the same generated code.
///
/// Names of Sets, Maps and Dats, sizes, data, index widths and values of constants are not in it;
/// the kernel's token stream, dtypes, dims, arities, accesses and alias pattern are.
[[nodiscard]] std::string signature(const Loop& loop);

}  // namespace op2::ir
