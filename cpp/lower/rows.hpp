// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "kir/nodes.hpp"

namespace op2::lower {

/// @brief Entry @p slot of those of @p element in the array @p map, which has @p arity for each.
[[nodiscard]] kir::Expr map_entry(const std::string& map, const kir::Expr& element, int arity,
                                  const kir::Expr& slot);

/// @brief The one row number @p number of all, whatever element reaches it.
[[nodiscard]] kir::Rows one_row(kir::Rows rows, const kir::Expr& number);

/// @brief Let the rows be those of these numbers; of none: the Map's entries in their order.
void list_rows(kir::Rows& rows, std::vector<kir::Expr> numbers);

/// @brief Let each of the rows be the one of number @p number.
void repeat_row(kir::Rows& rows, const kir::Expr& number);

/// @brief Scalars from a row to the next, where a row's components stand together.
[[nodiscard]] int stride_of(const kir::Rows& rows);

/// @brief True if one expression says where any of the rows starts.
[[nodiscard]] bool is_regular(const kir::Rows& rows);

/// @brief Where row number @p i of what one element reaches starts.
/// @param[in] i A number, or if the rows are regular anything.
[[nodiscard]] kir::Expr row_start(const kir::Rows& rows, const kir::Expr& i);

/// @brief How far component @p c of those that are used is from the row's start.
[[nodiscard]] kir::Expr component_of(const kir::Rows& rows, const kir::Expr& c);

/// @brief Component @p c of row @p i, at row_start() + component_of().
[[nodiscard]] kir::Expr scalar_of(const kir::Rows& rows, const kir::Expr& i, const kir::Expr& c);

}  // namespace op2::lower
