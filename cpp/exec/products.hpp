// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "base/dtype.hpp"

namespace op2::exec {

/// @brief A matrix in memory: compressed rows of dense blocks, row-major, a block at each place.
struct BlockTable {
  DType dtype = DType::float64;
  int row_dim = 1;                           ///< rows of a block
  int column_dim = 1;                        ///< columns of a block
  std::span<const std::int64_t> row_offset;  ///< [rows of blocks + 1] into columns
  std::variant<std::span<const std::int32_t>, std::span<const std::int64_t>> columns;
  const void* values = nullptr;  ///< [places * row_dim * column_dim]
};

/// @brief Whether multiply() has code for a dtype: floating numbers, complex ones and int64.
[[nodiscard]] bool is_multiplied(DType dtype);

/// @brief `y = A x`, or `y += A x`.
///
/// Each row is summed in the order of its places, so the bits do not depend on @p n_threads. Sums
/// of int64 wrap around.
/// @param[in] x [n_x] of the matrix's dtype; columns stay below n_x.
/// @param[in,out] y [rows of blocks * row_dim] of the same dtype, without overlap with the other
/// arrays.
/// @param[in] is_added Whether the product is added to the values of @p y.
/// @throws UnsupportedError if there is no code for the dtype.
void multiply(const BlockTable& matrix, const void* x, void* y, bool is_added, int n_threads);

}  // namespace op2::exec
