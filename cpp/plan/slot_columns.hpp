// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "plan/index_array.hpp"
#include "plan/inverse.hpp"

namespace op2::plan {

/// @brief The incidences of groups of rows, a row in each lane, in columns of one slot each
/// (SELL-C-sigma, sliced ELLPACK: C is `lanes`, sigma is `window`).
///
/// All lanes of a column do the same work, so lanes run side by side. A group has as many columns
/// as its own rows need: for each slot the largest count of a row. Therefore rows with as many
/// incidences of each slot stand side by side, though all stay near their place. A row visits its
/// incidences by slot, then by element.
struct SlotColumns {
  std::int64_t n_targets = 0;
  std::int64_t n_rows = 0;
  int n_occurrences = 0;
  int lanes = 1;                   ///< rows of a group; the last group may have fewer
  std::int64_t n_core_groups = 0;  ///< the first groups, without an element at the boundary
  std::int64_t n_incidences = 0;
  IndexArray targets;                       // [n_rows] of each lane, group by group
  std::vector<std::int64_t> column_offset;  // [n_groups + 1] into slot
  std::vector<std::int32_t> slot;           // [n_columns]
  /// [n_columns, lanes] the element; without an incidence, -1 - an element of another incidence.
  IndexArray elements;

  [[nodiscard]] std::int64_t n_groups() const {
    return static_cast<std::int64_t>(column_offset.size()) - 1;
  }
  [[nodiscard]] std::int64_t n_columns() const { return column_offset.back(); }
  /// @brief The part of the lanes with an incidence; 1 if there are no columns.
  [[nodiscard]] double fill() const;
  [[nodiscard]] std::int64_t bytes() const;
};

/// @brief How columns are laid out.
struct SlotLayout {
  int lanes = 1;  ///< rows side by side
  /// Rows sorted together, a multiple of `lanes`: enough to find similar rows, and few enough that
  /// their data stay in cache.
  std::int64_t window = 256;
};

/// @brief Lay an inverse out in columns. Independent of @p n_threads. Rows of the core stay before
/// the others: no window has both.
/// @throws UsageError if the inverse is not sorted by slot, there are no lanes, or a window is not
/// a multiple of them.
[[nodiscard]] SlotColumns slot_columns(const InverseMap& inverse, const SlotLayout& layout,
                                       int n_threads);

/// @brief Columns of another inverse of the same targets, with rows on the lanes of @p like, so the
/// columns need no list of targets. Independent of @p n_threads.
/// @throws UsageError if the inverse is not sorted by slot, or has other rows.
[[nodiscard]] SlotColumns slot_columns_like(const InverseMap& inverse, const SlotColumns& like,
                                            int n_threads);

/// @brief Columns of rows in their order. Lanes beyond the last row repeat its incidences, so that
/// they may compute and store the same once more.
/// @throws UsageError if the inverse is not sorted by slot, lists rows, or there are no lanes.
[[nodiscard]] SlotColumns slot_columns_in_order(const InverseMap& inverse, int lanes,
                                                int n_threads);

}  // namespace op2::plan
