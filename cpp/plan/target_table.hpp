// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mesh/map_table.hpp"
#include "plan/conflict.hpp"
#include "plan/index_array.hpp"

namespace op2::plan {

/// @brief An entry of a column's row of a Map, and its move from a layer to the next.
struct TableRow {
  int slot = 0;
  int offset = 0;
  int quotient = 0;
  int above = 0;
};

/// @brief The targets of the cells of an extruded Set. Generated code computes targets from the
/// column's row of the Map and the level of the cell; the table has them written down, to be
/// coloured and inverted like any other Map.
struct TableSpec {
  MapPointer map;
  std::vector<TableRow> rows;  ///< [arity]; empty: the Map's own entries at every level
  std::int64_t n = 0;          ///< cells
  MapPointer columns;          ///< arity 1, the column of each cell; with constant layers null, or
                               ///< the columns visited
  MapPointer levels;           ///< arity 1, the level of each cell; null: constant layers
  MapPointer bounds;           ///< arity 2, of each column; null: constant layers
  std::int64_t n_visited = 1;  ///< constant layers: cells of a column in the loop
  std::int64_t first_level = 0;
  std::int64_t n_levels = 1;
  bool periodic = false;
};

/// @brief A Map and the memory of its values.
struct TargetTable {
  IndexArray values;                    // [n, arity]
  std::unique_ptr<mesh::MapTable> map;  // into values

  [[nodiscard]] std::int64_t bytes() const { return bytes_of(values); }
};

/// @brief Write the targets down. A negative entry leads nowhere from every cell, and stays so.
/// @throws UsageError with the first row and entry outside the Map's target Set.
[[nodiscard]] TargetTable target_table(const TableSpec& spec, int n_threads);

}  // namespace op2::plan
