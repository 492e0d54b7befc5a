// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mesh/map_table.hpp"

namespace op2::plan {

using MapPointer = std::shared_ptr<const mesh::MapTable>;

/// @brief The elements a loop runs over: [0, n), or the n entries of a subset.
struct Elements {
  std::int64_t n = 0;
  /// Null, or a map of arity 1 from subset positions to elements, without duplicates.
  MapPointer subset;
  /// The number of last elements, by position, with values from other processes. Other work items
  /// come first in every plan, so they run while such values travel.
  std::int64_t n_boundary = 0;

  /// @brief How many come before the boundary.
  [[nodiscard]] std::int64_t n_core() const { return n - n_boundary; }
};

/// @brief The meaning of the numbers of elements in a plan.
enum class EntryOrigin {
  element,   ///< the elements themselves
  position,  ///< their positions in the loop: generated code looks the elements up
};

/// @brief Sentinel for Conflict::slot: all slots of the map.
inline constexpr int all_slots = -1;

/// @brief An indirect access whose targets only one element at a time may touch.
///
/// Conflicts of the same space address the same memory, so they conflict with one another also
/// through different maps; conflicts of different spaces (two Dats without common memory) never do.
struct Conflict {
  MapPointer map;
  int slot = all_slots;
  int space = 0;
};

/// @brief The source of a colouring.
struct ConflictSet {
  Elements elements;
  std::vector<Conflict> conflicts;
  EntryOrigin origin = EntryOrigin::element;  ///< of the elements in an ElementPlan
  /// Null, or a map of arity 1 from positions to the common part of consecutive elements, such as
  /// the column of cells: elements with the same value are in one block, or get colours in order.
  MapPointer columns = {};

  /// @brief Whether the element at @p position is of the same column as the element before.
  [[nodiscard]] bool continues_column(std::int64_t position) const {
    return columns && position > 0 && columns->at(position, 0) == columns->at(position - 1, 0);
  }
};

/// @brief Check elements against the maps they index.
/// @throws UsageError if the elements are negative in number or not rows of every map, or more of
/// them are at the boundary than there are.
void check_elements(const Elements& elements, const std::vector<MapPointer>& maps, int n_threads);

/// @brief The same conflicts without repetition, spaces numbered by first appearance.
///
/// Loops often increment several Dats through one map. Each Dat is a separate space. A space whose
/// entries are all entries of another space adds no constraint and is dropped.
/// @throws UsageError if a slot does not exist, or maps of one space end on sets of different size.
[[nodiscard]] std::vector<Conflict> canonical(const std::vector<Conflict>& conflicts);

}  // namespace op2::plan
