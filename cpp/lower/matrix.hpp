// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lower/incidence.hpp"

namespace op2::lower {

/// Matrices in generated code. Where an entry of an element's tensor lies was found once, by the
/// plan: its row's start, and its place in the row. Inserting is then an update at a known address,
/// which the strategies resolve as they do a Dat's.

/// @brief Positions of this width that are not below the result have no place.
[[nodiscard]] std::int64_t first_dropped(int position_bytes);

/// @brief Arguments that are matrices, in order.
[[nodiscard]] std::vector<std::size_t> matrix_args(const ir::Loop& loop);

/// @brief Loops and updates for all entries of one element's tensor.
[[nodiscard]] kir::Block expand_insert(const kir::MatInsert& insert, const Tuning& tuning);

/// @brief The matrices whose rows an owner of rows adds to, and the names of those rows' starts.
struct OwnedRow {
  std::size_t arg;
  std::string start;    ///< pointer to the row's first value
  std::string results;  ///< array of the element tensors
  bool in_scratch;      ///< one tensor after the other, not one alone
};

/// @brief One OwnedRow for each matrix; its results are the argument's pack.
[[nodiscard]] std::vector<OwnedRow> take_rows(Builder& builder);

/// @brief Declare where the rows of `target` start.
[[nodiscard]] kir::Block declare_rows(Builder& builder, const std::vector<OwnedRow>& rows);

/// @brief Add row `o` of element `n` to the row that is owned, where slot `o` is the matrix's.
[[nodiscard]] kir::Stmt add_to_row(Builder& builder, const Incidence& incidence,
                                   const OwnedRow& row);

}  // namespace op2::lower
