// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace op2::exec {

/// @brief Approximate inverse of a matrix, by rows; sums are computed in double precision.
///
/// A row has runs of consecutive columns, all of a width, so inverses of blocks need a number a
/// row.
class SparseInverse {
 public:
  using Values = std::variant<std::vector<double>, std::vector<float>>;

  /// @brief Take the arrays of an inverse.
  /// @param row_offset [n_rows + 1] into columns
  /// @param columns [n_runs] The first column of each run.
  /// @param values [n_runs * width]
  /// @param n_ghosts Columns behind those of the rows.
  /// @throws UsageError if the arrays do not fit each other, or a column is out of range.
  SparseInverse(std::vector<std::int64_t> row_offset, std::vector<std::int32_t> columns,
                std::int64_t width, Values values, std::int64_t n_ghosts = 0);

  /// @brief Rows of scalars.
  [[nodiscard]] std::size_t n_rows() const { return row_offset_.size() - 1; }

  /// @brief Compute rows of a product with a vector.
  /// @param begin The first row.
  /// @param end One past the last row.
  /// @param[in] in [n_rows() + n_ghosts]
  /// @param[out] out [n_rows()] Not @p in.
  void multiply(std::size_t begin, std::size_t end, std::span<const double> in,
                std::span<double> out) const;

 private:
  std::vector<std::int64_t> row_offset_;
  std::vector<std::int32_t> columns_;
  std::size_t width_;
  Values values_;
};

}  // namespace op2::exec
