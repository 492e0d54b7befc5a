// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "mesh/map_table.hpp"

namespace op2::mesh {

/// @brief The one thing code generation may know of a map's values: data-free and small.
///
/// The degree of a target is the number of map entries that name it. Negative entries mean "no
/// target" and count for nothing.
struct MapFacts {
  int index_bytes = 4;          ///< 4 or 8
  std::int64_t degree_min = 0;  ///< over all targets, also those that no entry names
  std::int64_t degree_max = 0;
  bool injective = true;  ///< no target is named twice
  bool has_negative = false;

  bool operator==(const MapFacts&) const = default;
};

/// @brief Facts of rows [0, @p n) of @p map.
/// @throws UsageError if @p n exceeds the map's rows or an entry is >= n_targets.
[[nodiscard]] MapFacts map_facts(const MapTable& map, std::int64_t n, int n_threads);

/// @brief Check that every entry of @p map is in [0, n_targets), or negative where
/// @p negative_allowed.
/// @param[in] name How messages call the map.
/// @throws UsageError that names the first bad row, its slot and its value.
void check_range(const MapTable& map, std::string_view name, bool negative_allowed, int n_threads);

}  // namespace op2::mesh
