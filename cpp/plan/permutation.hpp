// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mesh/map_table.hpp"

namespace op2::plan {

// A renumbering of a set has one of two directions, each with a name:
//   old_of_new[i]  old number of the element with new number i (an "order": rows are read by it)
//   new_of_old[i]  new number of the element with old number i (a "relabelling" of map values)

/// @brief The order that sorts @p keys, equal keys staying in place.
/// @param[in] part_offset [n_parts + 1] Parts that keep their place: core, owned, ghost. Each part
/// is sorted separately.
/// @return [n] old_of_new; independent of @p n_threads.
/// @throws UsageError if part_offset does not rise from 0 to the number of keys.
[[nodiscard]] std::vector<std::int64_t> order_by_key(std::span<const std::uint64_t> keys,
                                                     std::span<const std::int64_t> part_offset,
                                                     int n_threads);

/// @brief Keys for the order of elements by their smallest target, then their largest.
///
/// Elements without a target come last. Where targets exceed 32 bits the largest is left out.
/// @param[in] new_of_old Shape (n_targets): the current numbers of the targets.
/// @throws UsageError if new_of_old has another length.
[[nodiscard]] std::vector<std::uint64_t> target_keys(const mesh::MapTable& map,
                                                     std::span<const std::int64_t> new_of_old,
                                                     int n_threads);

/// @brief Keys for the order of targets by the first element that names them.
///
/// Targets without an element come last.
/// @param[in] old_of_new The order of the elements, shape (n_rows).
/// @throws UsageError if old_of_new has another length.
[[nodiscard]] std::vector<std::uint64_t> visitor_keys(const mesh::MapTable& map,
                                                      std::span<const std::int64_t> old_of_new);

/// @brief The other direction of a renumbering.
/// @throws UsageError if @p permutation does not hold each of [0, n) once, naming a culprit.
[[nodiscard]] std::vector<std::int64_t> inverse_permutation(
    std::span<const std::int64_t> permutation, int n_threads);

/// @brief target[i] = source[old_of_new[i]] for rows of any size.
/// @param[in] source Shape (n, ...), row-major bytes; does not overlap @p target.
/// @throws UsageError if the two differ in size or do not hold old_of_new.size() equal rows.
void permute_rows(std::span<const std::byte> source, std::span<std::byte> target,
                  std::span<const std::int64_t> old_of_new, int n_threads);

/// @brief The values of @p map after a renumbering of its rows and of its targets.
///
/// Negative values stay unchanged.
/// @param[in] old_of_new Order of the rows; empty: unchanged.
/// @param[in] new_of_old New numbers of the targets; empty: unchanged.
/// @param[out] values Shape (n_rows, arity), indices as wide as the map's, not its own array.
/// @throws UsageError if a renumbering or @p values has the wrong length.
void relabel(const mesh::MapTable& map, std::span<const std::int64_t> old_of_new,
             std::span<const std::int64_t> new_of_old, std::span<std::byte> values, int n_threads);

}  // namespace op2::plan
