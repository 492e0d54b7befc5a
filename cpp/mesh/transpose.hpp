// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace op2::mesh {

/// @brief The order of a Dat's values in memory: rows of `dim` items, or a column for each item.
struct Layout {
  bool is_soa = false;
  int dim = 1;
  int item_bytes = 1;  ///< of one value; a complex value is one item

  bool operator==(const Layout&) const = default;
};

/// @brief Rearrange rows (AoS) into columns (SoA).
/// @param[out] columns Shape (dim, n_rows); column i starts at item i * n_rows.
/// @param[in] rows Shape (n_rows, dim); must not overlap @p columns.
/// @param[in] layout Of the columns.
void rows_to_columns(void* columns, const void* rows, std::int64_t n_rows, const Layout& layout,
                     int n_threads);

/// @brief The way back: shape (dim, n_rows) into (n_rows, dim).
void columns_to_rows(void* rows, const void* columns, std::int64_t n_rows, const Layout& layout,
                     int n_threads);

}  // namespace op2::mesh
