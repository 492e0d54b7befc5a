// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/transpose.hpp"

#include "move/rows.hpp"

namespace op2::mesh {

void rows_to_columns(void* columns, const void* rows, std::int64_t n_rows, const Layout& layout,
                     int n_threads) {
  const std::int64_t n_bytes = layout.item_bytes;
  move::Rows moved = move::dense_rows(columns, rows, n_rows, layout.dim, n_bytes, n_bytes);
  moved.to_row = n_bytes;
  moved.to_item = n_rows * n_bytes;
  move::copy_items(moved, n_bytes, n_threads);
}

void columns_to_rows(void* rows, const void* columns, std::int64_t n_rows, const Layout& layout,
                     int n_threads) {
  const std::int64_t n_bytes = layout.item_bytes;
  move::Rows moved = move::dense_rows(rows, columns, n_rows, layout.dim, n_bytes, n_bytes);
  moved.from_row = n_bytes;
  moved.from_item = n_rows * n_bytes;
  move::copy_items(moved, n_bytes, n_threads);
}

}  // namespace op2::mesh
