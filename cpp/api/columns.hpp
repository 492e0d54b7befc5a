// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/states.hpp"
#include "base/paths.hpp"
#include "mesh/map_table.hpp"

/// Columns of cells over the entities of a Set, and the cells visited by a loop.
namespace op2 {

class Set;
class Subset;

namespace api {

/// @brief The data of an extruded Set besides its columns.
struct Extrusion {
  SetPointer base;
  bool is_constant;                  ///< all columns have as many layers, and start at 0
  bool is_periodic;                  ///< the top of a column is its bottom
  std::vector<std::int64_t> layers;  ///< [2] or [2 * n_columns]: the lowest, the highest plus one
};

/// @brief The cells visited by a loop, as the lists from which generated code and plans look them
/// up (in the order of lower::item_locals), and the memory of the lists.
struct Cells {
  std::int64_t n = 0;
  std::vector<std::shared_ptr<mesh::MapTable>> tables;
  std::vector<std::vector<std::int64_t>> wide;
  std::vector<std::vector<std::int32_t>> narrow;
};

/// @brief The visited entities: a whole Set, or a part; for columns, also the cells.
struct Visited {
  Visited(const Set& set, Region cells = Region::all);
  Visited(const Subset& subset, Region cells = Region::all);
  Visited(SetPointer set, Region cells);

  SetPointer whole;
  SubsetPointer part{};  ///< null: all of the Set
  Region region;

  [[nodiscard]] bool is_extruded() const;
  /// @brief The Set of values without a Map.
  [[nodiscard]] const SetPointer& base() const;
  /// @brief Entities, or columns.
  [[nodiscard]] std::int64_t n_entities() const;
  /// @brief Entities, or cells of columns.
  [[nodiscard]] std::int64_t n_items() const;
};

/// @brief The cells of an extruded Set, listed once for each kind of loop.
/// @param[in] index_bytes Of the lists of columns and levels, if columns differ.
/// @throws UsageError if @p index_bytes are too few for the cells.
[[nodiscard]] std::shared_ptr<const Cells> cells_of(const Visited& visited, int index_bytes);

/// @brief The Map from each column to the entity below.
/// @param[in] index_bytes Of the values: 4 or 8.
/// @throws UsageError if @p index_bytes are too few for the columns.
[[nodiscard]] MapPointer own_columns(const Visited& visited, int index_bytes);

/// @brief Check that an object with a region is over columns.
/// @throws UsageError if not.
void check_region(const std::string& what, const Visited& visited);

/// @brief Check that a Map has the offsets of the generated code.
/// @throws UsageError if not.
void check_offsets(const std::string& what, const MapState& map, const MapRef& path);

/// @brief Check that every cell of the visited columns leads to an entity of the Map's target Set.
/// @throws UsageError with the column, if not.
void check_reach(const std::string& what, const MapState& map, const Visited& visited);

/// @brief The path of a Map from cells, or pairs of cells, by the Map's own offsets.
[[nodiscard]] MapRef path_of(const MapState& map, bool facets);

}  // namespace api
}  // namespace op2
