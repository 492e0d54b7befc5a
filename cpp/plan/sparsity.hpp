// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "plan/conflict.hpp"
#include "plan/index_array.hpp"

namespace op2::plan {

/// @brief Elements that couple rows with columns: each row of an element with each column of the
/// element. Negative entries couple nothing.
struct MapPair {
  MapPointer rows;
  MapPointer columns;
  std::int64_t n_elements = 0;
};

/// @brief The source of the places of a matrix.
struct SparsitySpec {
  std::int64_t n_rows = 0;
  std::int64_t n_columns = 0;
  std::vector<MapPair> pairs;
  bool diagonal = false;  ///< (i, i) has a place even without an element for the pair
};

/// @brief Where a matrix may have values: compressed rows, columns ascending within each.
///
/// Rows and columns count blocks. Immutable once built.
struct Sparsity {
  std::int64_t n_rows = 0;
  std::int64_t n_columns = 0;
  std::int64_t longest_row = 0;
  std::vector<std::int64_t> row_offset;  // [n_rows + 1] into columns
  IndexArray columns;                    // [n_entries]

  [[nodiscard]] std::int64_t n_entries() const { return row_offset.back(); }
  [[nodiscard]] std::int64_t bytes() const { return bytes_of(row_offset) + bytes_of(columns); }
};

/// @brief Build a sparsity row by row: invert the row maps, merge the columns of each row's
/// elements. The result does not depend on @p n_threads.
/// @throws UsageError if a map has an entry that is no row or no column, if the two maps of a pair
/// differ in length, or if there are more elements than rows of a map.
[[nodiscard]] Sparsity build_sparsity(const SparsitySpec& spec, int n_threads);

}  // namespace op2::plan
