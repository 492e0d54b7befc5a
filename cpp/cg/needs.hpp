// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "ir/kernel_ir.hpp"
#include "ir/loop.hpp"

namespace op2::cg {

/// @brief What the text of a loop may need before it: "float64", "complex", "int64_atomics".
[[nodiscard]] std::vector<std::string> needs(const kir::Module& module, const ir::Loop& loop);

}  // namespace op2::cg
