// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <variant>
#include <vector>

#include "plan/conflict.hpp"
#include "plan/sparsity.hpp"

namespace op2::plan {

/// @brief Positions within a row: one byte where possible, because assembly streams them.
using PositionArray =
    std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<std::int32_t>>;

/// @brief The value for "this entry has no place": the largest of the type, so a single comparison
/// finds the value.
template <class T>
inline constexpr T dropped = std::numeric_limits<T>::max();

/// @brief Bytes of a position in a matrix with this longest row.
[[nodiscard]] int position_bytes(std::int64_t longest_row);

/// @brief The entries of element tensors to find in a matrix.
struct PositionSpec {
  std::shared_ptr<const Sparsity> sparsity;
  Elements elements;
  MapPointer rows;
  MapPointer columns;
  /// Null, or maps of arity 1 from rows and from columns to themselves; where they are negative,
  /// entries are dropped: boundary conditions.
  MapPointer row_mask;
  MapPointer column_mask;
  /// Scalars a row and a column with separate positions and masks. 1: blocks.
  int row_dim = 1;
  int column_dim = 1;
  int bytes = 4;  ///< of a position: 1, 2 or 4, position_bytes() or more
};

/// @brief The place of each entry of each element tensor: blocks from the start of the row.
struct Positions {
  PositionArray values;  // [n_elements, rows * row_dim, columns * column_dim] of the element
  /// [n_elements + 1] Where those of each element begin, if a map is ragged; else empty.
  std::vector<std::int64_t> begins;

  [[nodiscard]] std::int64_t bytes() const;
};

/// @brief Find all positions once, so assembling needs no search.
/// @throws UsageError with the element if an entry has no place in the sparsity: the Map's values
/// were changed after the sparsity was built; if a mask has not one entry for each row or column;
/// or if positions do not fit spec.bytes.
[[nodiscard]] Positions find_positions(const PositionSpec& spec, int n_threads);

}  // namespace op2::plan
