// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/map_facts.hpp"
#include "mesh/map_table.hpp"

namespace op2::mesh {

using op2::MapFacts;

/// @brief Facts of rows [0, @p n) of @p map.
/// @throws UsageError if @p n exceeds the map's rows or an entry is >= n_targets.
[[nodiscard]] MapFacts map_facts(const MapTable& map, std::int64_t n, int n_threads);

/// @brief The largest degree of a target, the number of entries that name the target, in rows [0,
/// @p n). Takes longer than map_facts().
/// @param[in] slots The entries of each row that count; empty: all.
/// @throws UsageError as map_facts() does.
[[nodiscard]] std::int64_t largest_degree(const MapTable& map, std::int64_t n,
                                          const std::vector<int>& slots, int n_threads);

/// @brief Check that every entry of @p map is in [0, n_targets), or negative where
/// @p negative_allowed.
/// @param[in] name The map's name in messages.
/// @throws UsageError with the first bad row, slot and value.
void check_range(const MapTable& map, std::string_view name, bool negative_allowed, int n_threads);

}  // namespace op2::mesh
