// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <string>

#include "ir/kernel_ir.hpp"

namespace op2::lower {

/// @brief Every variable and array that the statements of @p block mention.
[[nodiscard]] std::set<std::string> names_used(const kir::Block& block);

}  // namespace op2::lower
