// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mesh/map_table.hpp"

namespace op2::mesh {

/// @brief Entities between vertices and cells, such as edges and facets, numbered.
///
/// An entity is its set of vertices. Numbers go by the sorted vertices, lexicographically: if close
/// vertices have close numbers, close entities do, too. A use is an appearance of an entity in a
/// cell: cell * n_local + local, with n_local entities in a cell.
struct Entities {
  int n_corners = 1;
  std::vector<std::int32_t> of_cells;    // [n_cells * n_local] entity of each use
  std::vector<std::int32_t> vertices;    // [n * n_corners] in the order of the first use
  std::vector<std::int64_t> first_use;   // [n] the least use
  std::vector<std::int64_t> second_use;  // [n] the next use; -1 if there is none
  std::int64_t crowded = -1;             ///< the first entity with more than two uses; -1 if none
};

constexpr int max_corners = 4;

/// @brief Number the entities of all cells.
/// @param[in] cells Vertices of each cell, as 32-bit indices.
/// @param[in] corners Shape (n_local, n_corners): the corners of each entity as slots of its cell.
/// @param[in] n_corners At most `max_corners`.
/// @return Independent of @p n_threads.
/// @throws UsageError if a cell names a vertex twice in an entity, a vertex is out of range,
/// indices are wider, or 32 bits do not count the entities.
[[nodiscard]] Entities number_entities(const MapTable& cells, std::span<const std::int32_t> corners,
                                       int n_corners, int n_threads);

/// @brief Find entities by their vertices, given in any order.
/// @param[in] vertices Shape (n, n_corners): as `number_entities` returned them.
/// @param[in] rows Shape (n_rows, n_corners).
/// @return [n_rows] Their numbers; -1 for no such entity.
[[nodiscard]] std::vector<std::int64_t> find_entities(std::span<const std::int32_t> vertices,
                                                      std::span<const std::int32_t> rows,
                                                      int n_corners, int n_threads);

}  // namespace op2::mesh
