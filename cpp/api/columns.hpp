// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/states.hpp"
#include "base/paths.hpp"
#include "mesh/map_table.hpp"

/// Columns of cells over the entities of a Set, and the cells of them that a loop visits.
namespace op2 {

class Set;
class Subset;

namespace api {

/// @brief What an extruded Set has besides its columns.
struct Extrusion {
  SetPointer base;
  bool is_constant;                  ///< all columns have as many layers, and start at 0
  bool is_periodic;                  ///< the top of a column is its bottom
  std::vector<std::int64_t> layers;  ///< [2] or [2 * n_columns]: the lowest, one past the highest
};

/// @brief The cells that a loop visits, as the lists from which generated code and plans look them
/// up (in the order of lower::item_locals), and the memory of the lists.
struct Cells {
  std::int64_t n = 0;
  std::vector<std::shared_ptr<mesh::MapTable>> tables;
  std::vector<std::vector<std::int64_t>> wide;
  std::vector<std::vector<std::int32_t>> narrow;
};

/// @brief What a loop visits: a whole Set, or some of its entities; of columns, which cells.
struct Visited {
  Visited(const Set& set, Region cells = Region::all);
  Visited(const Subset& subset, Region cells = Region::all);
  Visited(SetPointer set, Region cells);

  SetPointer whole;
  SubsetPointer part{};  ///< null: all of it
  Region region;

  [[nodiscard]] bool is_extruded() const;
  /// @brief The Set that values without a Map are on.
  [[nodiscard]] const SetPointer& base() const;
  /// @brief Entities, or columns.
  [[nodiscard]] std::int64_t n_entities() const;
  /// @brief Entities, or cells of columns.
  [[nodiscard]] std::int64_t n_items() const;
};

/// @brief The cells of an extruded Set, listed once for each kind of loop.
/// @param[in] index_bytes Of the lists of columns and levels, if columns differ.
/// @throws UsageError if they are more than that counts.
[[nodiscard]] std::shared_ptr<const Cells> cells_of(const Visited& visited, int index_bytes);

/// @brief The Map from each column to the entity that it stands on.
/// @param[in] index_bytes Of its values: 4 or 8.
/// @throws UsageError if there are more columns than that counts.
[[nodiscard]] MapPointer own_columns(const Visited& visited, int index_bytes);

/// @brief Check that a region of something is one of columns.
/// @throws UsageError if it is not.
void check_region(const std::string& what, const Visited& visited);

/// @brief Check that a Map was given the offsets that code was generated for.
/// @throws UsageError if it was not.
void check_offsets(const std::string& what, const MapState& map, const MapRef& path);

/// @brief Check that a Map leads to its target Set from every cell of the visited columns.
/// @throws UsageError naming the column, if it does not.
void check_reach(const std::string& what, const MapState& map, const Visited& visited);

/// @brief How a Map leads from cells, or pairs of them, by its own offsets.
[[nodiscard]] MapRef path_of(const MapState& map, bool facets);

}  // namespace api
}  // namespace op2
