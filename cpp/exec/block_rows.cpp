// SPDX-License-Identifier: BSD-3-Clause
#include "exec/block_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace op2::exec {

template <class Index>
void check_rows(const BlockRows<Index>& matrix) {
  const auto rows = static_cast<std::size_t>(matrix.n_rows);
  const auto dim = static_cast<std::size_t>(matrix.dim);
  const bool fits = matrix.row_offset.size() == rows + 1 &&
                    matrix.values.size() == matrix.columns.size() * dim * dim &&
                    matrix.row_offset[0] == 0 &&
                    matrix.row_offset[rows] == static_cast<std::int64_t>(matrix.columns.size()) &&
                    std::is_sorted(matrix.row_offset.begin(), matrix.row_offset.end());
  if (!fits) {
    throw UsageError(fmt::format(
        "a matrix of {} rows of blocks of {} does not fit {} offsets, "
        "{} columns and {} values",
        rows, dim, matrix.row_offset.size(), matrix.columns.size(), matrix.values.size()));
  }
  const std::size_t n_columns = rows + static_cast<std::size_t>(matrix.n_ghosts);
  for (const Index column : matrix.columns) {
    if (column < 0 || static_cast<std::size_t>(column) >= n_columns) {
      throw UsageError(fmt::format("a matrix of {} rows has no column {}", rows, column));
    }
  }
}

template void check_rows(const BlockRows<std::int32_t>&);
template void check_rows(const BlockRows<std::int64_t>&);

}  // namespace op2::exec
