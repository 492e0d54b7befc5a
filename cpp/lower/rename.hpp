// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "ir/kernel_ir.hpp"

namespace op2::lower {

/// @brief Call variable or array @p from by the name @p to, wherever @p block mentions it.
void rename(kir::Block& block, const std::string& from, const std::string& to);

}  // namespace op2::lower
