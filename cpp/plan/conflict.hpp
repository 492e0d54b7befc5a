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
  /// How many of the last ones, by position, need values of other processes. Work items of the
  /// others come first in every plan, so that they can be computed while such values travel.
  std::int64_t n_boundary = 0;

  /// @brief How many come before the boundary.
  [[nodiscard]] std::int64_t n_core() const { return n - n_boundary; }
};

/// @brief What the numbers of elements in a plan count.
enum class EntryOrigin {
  element,   ///< the elements themselves
  position,  ///< their positions in the loop: generated code looks the elements up
};

/// @brief Stands for every slot of a map.
inline constexpr int all_slots = -1;

/// @brief An indirect access whose targets only one element at a time may touch.
///
/// Conflicts of one space address the same memory, so they conflict with one another also through
/// different maps; conflicts of different spaces (two Dats that share no memory) never do.
struct Conflict {
  MapPointer map;
  int slot = all_slots;
  int space = 0;
};

/// @brief What a colouring is derived from.
struct ConflictSet {
  Elements elements;
  std::vector<Conflict> conflicts;
  EntryOrigin origin = EntryOrigin::element;  ///< of the elements in an ElementPlan
  /// Null, or a map of arity 1 from positions to what elements that follow each other have in
  /// common, as cells of a column do: these are in one block, or get colours in their order.
  MapPointer columns = {};

  /// @brief Whether the element at @p position is of the same column as the one before it.
  [[nodiscard]] bool continues_column(std::int64_t position) const {
    return columns && position > 0 && columns->at(position, 0) == columns->at(position - 1, 0);
  }
};

/// @brief Check elements against the maps they index.
/// @throws UsageError if the elements are negative in number or not rows of every map, or more of
/// them are at the boundary than there are.
void check_elements(const Elements& elements, const std::vector<MapPointer>& maps, int n_threads);

/// @brief The same conflicts with nothing said twice, spaces numbered by first appearance.
///
/// Loops often increment several Dats through one map. Each is a space of its own, but if all
/// entries of one space are entries of another it adds no constraint and is dropped.
/// @throws UsageError if a slot does not exist, or maps of one space end on sets of different size.
[[nodiscard]] std::vector<Conflict> canonical(const std::vector<Conflict>& conflicts);

}  // namespace op2::plan
