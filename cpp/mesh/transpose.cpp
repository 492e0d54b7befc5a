// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/transpose.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/error.hpp"
#include "base/parallel.hpp"

namespace op2::mesh {
namespace {

struct Item16 {
  std::uint64_t low;
  std::uint64_t high;
};

// Rows handled together: their items of one column fill whole cache lines, and all of them fit in
// the first-level cache up to a dim of 64.
constexpr std::int64_t rows_at_once = 64;

template <class Item, bool to_columns>
void transpose(void* to, const void* from, std::int64_t n_rows, int dim, int n_threads) {
  auto* target = static_cast<Item*>(to);
  const auto* source = static_cast<const Item*>(from);
  const std::int64_t n_tiles = (n_rows + rows_at_once - 1) / rows_at_once;
  parallel_for(
      n_threads, n_tiles,
      [target, source, n_rows, dim](std::int64_t first, std::int64_t last, int /*thread*/) {
        for (std::int64_t tile = first; tile < last; ++tile) {
          const std::int64_t begin = tile * rows_at_once;
          const std::int64_t end = std::min(begin + rows_at_once, n_rows);
          for (int i = 0; i < dim; ++i) {
            const std::int64_t column = i * n_rows;
            for (std::int64_t row = begin; row < end; ++row) {
              if constexpr (to_columns) {
                target[column + row] = source[row * dim + i];
              } else {
                target[row * dim + i] = source[column + row];
              }
            }
          }
        }
      },
      /*grain=*/64);
}

template <bool to_columns>
void transpose(void* to, const void* from, std::int64_t n_rows, const Layout& layout,
               int n_threads) {
  switch (layout.item_bytes) {
    case 1:
      return transpose<std::uint8_t, to_columns>(to, from, n_rows, layout.dim, n_threads);
    case 2:
      return transpose<std::uint16_t, to_columns>(to, from, n_rows, layout.dim, n_threads);
    case 4:
      return transpose<std::uint32_t, to_columns>(to, from, n_rows, layout.dim, n_threads);
    case 8:
      return transpose<std::uint64_t, to_columns>(to, from, n_rows, layout.dim, n_threads);
    case 16:
      return transpose<Item16, to_columns>(to, from, n_rows, layout.dim, n_threads);
    default:
      throw InternalError(fmt::format("no value has {} bytes", layout.item_bytes));
  }
}

}  // namespace

void rows_to_columns(void* columns, const void* rows, std::int64_t n_rows, const Layout& layout,
                     int n_threads) {
  transpose<true>(columns, rows, n_rows, layout, n_threads);
}

void columns_to_rows(void* rows, const void* columns, std::int64_t n_rows, const Layout& layout,
                     int n_threads) {
  transpose<false>(rows, columns, n_rows, layout, n_threads);
}

}  // namespace op2::mesh
