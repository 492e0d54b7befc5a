// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "plan/conflict.hpp"
#include "plan/index_array.hpp"
#include "plan/target_table.hpp"

namespace op2::plan {

/// @brief An order of elements where neighbours touch neighbouring targets, and not the same.
struct Interleaved {
  IndexArray order;  ///< [n] elements, each once

  [[nodiscard]] std::int64_t bytes() const { return bytes_of(order); }
};

/// @brief Order elements so that consecutive elements start at consecutive targets.
///
/// An element belongs to its smallest target. Within every @p window of consecutive targets come
/// first the first elements of each, then the second ones, and so on: lanes side by side then add
/// to targets side by side. In natural order many lanes wait for each other at the same target.
/// Elements without a target come last. Elements at the boundary are ordered separately, behind the
/// others. Independent of @p n_threads.
/// @param[in] elements All of a Set: no subset.
/// @throws UsageError if the map has fewer rows than there are elements, or the window is not
/// positive.
[[nodiscard]] Interleaved interleave(const mesh::MapTable& map, const Elements& elements,
                                     std::int64_t window, int n_threads);

/// @brief The numbers behind scatter(): the device's.
struct ScatterLayout {
  std::int64_t window = 32;         ///< as in interleave()
  std::int64_t lanes = 32;          ///< with simultaneous access to memory: lanes of a warp
  std::int64_t sector_targets = 4;  ///< with one float64 each in a sector of memory
};

/// @brief How far apart lanes side by side add to memory, with elements in the order of
/// interleave(): sectors touched by the lanes of a warp by one slot, divided by the fewest
/// possible.
///
/// Found for some thousands of the first @p n elements. About 1 where neighbours have neighbouring
/// targets in each slot, as on meshes numbered row by row; 1 where there are too few to tell.
/// @throws UsageError as interleave() does.
[[nodiscard]] double scatter(const mesh::MapTable& map, std::int64_t n,
                             const ScatterLayout& layout);

/// @brief The rows of @p map in the order of @p plan, with the same width.
///
/// A loop with these rows for its Maps visits the elements in the order of @p plan at no cost.
[[nodiscard]] TargetTable reordered(const mesh::MapTable& map, const Interleaved& plan,
                                    int n_threads);

}  // namespace op2::plan
