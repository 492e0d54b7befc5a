// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "cg/context.hpp"
#include "kir/nodes.hpp"

namespace op2::cg {

/// Statements of a wrapper on lanes: rows that are transposed in registers, and what is summed.

/// @brief How the printer of a module spells an expression.
using LaneSpelling = std::function<std::string(const kir::Expr&)>;

void print_intrinsic(Context& context, const kir::Intrinsic& intrinsic,
                     const LaneSpelling& spelling);

}  // namespace op2::cg
