// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exec/block_rows.hpp"

namespace op2::exec {

/// @brief Factors L U of a matrix with its own pattern, no fill: ILU(0).
///
/// Meijerink and van der Vorst, Math. Comp. 31 (1977). For a symmetric matrix U is D times the
/// transpose of L, so the preconditioner is symmetric, too, as conjugate gradients need. Blocks
/// count as scalars.
class IncompleteLu {
 public:
  /// @brief Factorise a matrix.
  /// @throws UsageError if the arrays of the matrix do not fit each other.
  /// @throws ExecutionError if a pivot is missing, zero or not finite, with the row.
  template <class Index>
  explicit IncompleteLu(const BlockRows<Index>& matrix);

  /// @brief Rows of scalars.
  [[nodiscard]] std::size_t n_rows() const { return diagonal_.size(); }

  /// @brief Solve L U @p out = @p in.
  /// @param[in] in [n_rows()]
  /// @param[out] out [n_rows()] May be @p in.
  void solve(std::span<const double> in, std::span<double> out) const;

 private:
  template <class Index>
  void copy_pattern(const BlockRows<Index>& matrix);
  void factorise();

  std::vector<std::size_t> row_offset_;  // [n_rows + 1] into columns_
  std::vector<std::uint32_t> columns_;   // [n_places] ascending in each row
  std::vector<double> values_;           // [n_places] L without its diagonal of ones, 1 / d, U
  std::vector<std::size_t> diagonal_;    // [n_rows] places of diagonal entries
};

}  // namespace op2::exec
