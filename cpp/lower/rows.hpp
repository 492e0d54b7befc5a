// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ir/kernel_ir.hpp"

namespace op2::lower {

/// Where component c of row i is: row_start() + component().

/// @brief Scalars from a row to the next, where a row's components stand together.
[[nodiscard]] int stride_of(const kir::Rows& rows);

/// @brief True if one expression says where any of the rows starts: a Map's entries in their order,
/// each perhaps as far below the element as the others.
[[nodiscard]] bool is_regular(const kir::Rows& rows);

/// @brief Where row number @p i of what one element reaches starts.
/// @param[in] i A number, or if the rows are regular anything.
[[nodiscard]] kir::Expr row_start(const kir::Rows& rows, const kir::Expr& i);

/// @brief How far component @p c of those that are used is from the row's start.
[[nodiscard]] kir::Expr component_of(const kir::Rows& rows, const kir::Expr& c);

}  // namespace op2::lower
