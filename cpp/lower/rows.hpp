// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kir/nodes.hpp"

namespace op2::lower {

/// @brief Entry @p slot of those of @p element in the array @p map, which has @p arity for each.
[[nodiscard]] kir::Expr map_entry(const std::string& map, const kir::Expr& element, int arity,
                                  const kir::Expr& slot);

/// @brief The number of entry @p slot of @p element in the array of a ragged Map.
[[nodiscard]] kir::Expr ragged_entry(const std::string& map, const kir::Expr& element,
                                     const kir::Expr& slot);
/// @brief How many entries a ragged Map has of @p element.
[[nodiscard]] kir::Expr n_entries(const std::string& map, const kir::Expr& element);

/// @brief The one row number @p number of all, whatever element reaches it.
[[nodiscard]] kir::Rows one_row(kir::Rows rows, const kir::Expr& number);

/// @brief Let the rows be those of these numbers.
void list_rows(kir::Rows& rows, std::vector<kir::Expr> numbers);

/// @brief Let each of the rows be the one of number @p number.
void repeat_row(kir::Rows& rows, const kir::Expr& number);

/// @brief Let each component be a separate array, if the number @p stride has a name.
void lay_apart(kir::Rows& rows, const std::string& stride);

/// @brief The list of listed rows; else null.
[[nodiscard]] const kir::ListedRows* listed_of(const kir::Rows& rows);

/// @brief How many rows an element reaches through a ragged Map; nothing of other rows.
[[nodiscard]] std::optional<kir::Expr> n_rows(const kir::Rows& rows);

/// @brief True for the row of the element itself.
[[nodiscard]] bool is_own(const kir::Rows& rows);

/// @brief True if the rows are entries of a Map, listed or not.
[[nodiscard]] bool is_by_map(const kir::Rows& rows);

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
