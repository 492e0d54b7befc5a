// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace op2::exec {

/// @brief A square matrix of doubles: compressed rows of dense blocks.
///
/// Of a matrix shared by processes the rows are those of a process; columns of ghosts stand behind.
template <class Index>
struct BlockRows {
  std::int64_t n_rows = 0;                   ///< of blocks
  int dim = 1;                               ///< rows and columns of a block
  std::span<const std::int64_t> row_offset;  // [n_rows + 1] into columns
  std::span<const Index> columns;            // [n_places] ascending in each row
  std::span<const double> values;            // [n_places * dim * dim] blocks, row-major
  std::int64_t n_ghosts = 0;                 ///< columns of blocks behind the rows

  /// @brief The first place of a row of blocks.
  [[nodiscard]] std::size_t begin(std::size_t row) const {
    return static_cast<std::size_t>(row_offset[row]);
  }
  /// @brief One past the last place of a row of blocks.
  [[nodiscard]] std::size_t end(std::size_t row) const { return begin(row + 1); }
};

/// @brief Check that the arrays of a matrix fit each other.
/// @throws UsageError if the arrays do not fit, or if a column is out of range.
template <class Index>
void check_rows(const BlockRows<Index>& matrix);

}  // namespace op2::exec
