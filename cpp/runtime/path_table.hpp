// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/paths.hpp"
#include "mesh/map_table.hpp"
#include "plan/target_table.hpp"

namespace op2::runtime {

/// @brief The targets of the cells of an extruded Set by a path: ask the plan for the table.
/// @param[in] items The lists of the cells: lower::item_locals.
/// @param[in] n The number of cells.
[[nodiscard]] plan::TableSpec path_table(const plan::MapPointer& map, const MapRef& path,
                                         const Iteration& iteration,
                                         const std::vector<std::shared_ptr<mesh::MapTable>>& items,
                                         std::int64_t n);

/// @brief The targets of the elements of a Set by a path that names entries of the Map.
[[nodiscard]] plan::TableSpec path_table(const plan::MapPointer& map, const MapRef& path);

}  // namespace op2::runtime
