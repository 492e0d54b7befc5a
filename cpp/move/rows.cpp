// SPDX-License-Identifier: BSD-3-Clause
#include "move/rows.hpp"

#include "move/row_trees.hpp"

namespace op2::move {

Rows dense_rows(void* to, const void* from, std::int64_t n, std::int64_t dim, std::int64_t to_bytes,
                std::int64_t from_bytes) {
  return {.to = static_cast<char*>(to),
          .from = static_cast<const char*>(from),
          .n = n,
          .dim = dim,
          .to_row = dim * to_bytes,
          .to_item = to_bytes,
          .from_row = dim * from_bytes,
          .from_item = from_bytes,
          .lists = {}};
}

void copy_items(const Rows& rows, std::int64_t item_bytes, int n_threads) {
  const Rows flat = flattened(rows, {item_bytes, item_bytes});
  const Tree tree = tree_of(flat, copying(item_bytes));
  move_rows(tree, flat, n_threads);
}

}  // namespace op2::move
