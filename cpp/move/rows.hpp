// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "move/ckernel.hpp"

namespace op2::move {

/// @brief Rows of values and where they go: distances in bytes.
struct Rows {
  char* to = nullptr;
  const char* from = nullptr;
  std::int64_t n = 0;        ///< rows moved
  std::int64_t dim = 1;      ///< items of a row
  std::int64_t to_row = 0;   ///< from a row to the next
  std::int64_t to_item = 0;  ///< from an item of a row to the next
  std::int64_t from_row = 0;
  std::int64_t from_item = 0;
  Lists lists{};  ///< [n] each: rows of the target, rows of the source
};

/// @brief Rows of items side by side, in order.
[[nodiscard]] Rows dense_rows(void* to, const void* from, std::int64_t n, std::int64_t dim,
                              std::int64_t to_bytes, std::int64_t from_bytes);

/// @brief Move items as they are. They do not overlap.
void copy_items(const Rows& rows, std::int64_t item_bytes, int n_threads);

}  // namespace op2::move
