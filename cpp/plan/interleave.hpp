// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "plan/conflict.hpp"
#include "plan/index_array.hpp"
#include "plan/target_table.hpp"

namespace op2::plan {

/// @brief An order of elements in which neighbours touch neighbouring targets, and not the same.
struct Interleaved {
  IndexArray order;  ///< [n] elements, each once

  [[nodiscard]] std::int64_t bytes() const { return bytes_of(order); }
};

/// @brief Order elements so that consecutive ones start at consecutive targets.
///
/// An element belongs to its smallest target. Within every @p window of consecutive targets come
/// first the first elements of each, then the second ones, and so on: lanes side by side then add
/// to targets side by side, where in natural order many of them wait for each other at one target.
/// Elements without a target come last. Those at the boundary are ordered apart, behind the others.
/// Independent of @p n_threads.
/// @param[in] elements All of a Set: no subset.
/// @throws UsageError if the map has fewer rows than there are elements, or the window is not
/// positive.
[[nodiscard]] Interleaved interleave(const mesh::MapTable& map, const Elements& elements,
                                     std::int64_t window, int n_threads);

/// @brief The rows of @p map in the order of @p plan, as wide as they were.
///
/// A loop that gets these for its Maps visits the elements in that order at no cost.
[[nodiscard]] TargetTable reordered(const mesh::MapTable& map, const Interleaved& plan,
                                    int n_threads);

}  // namespace op2::plan
