// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace op2 {

/// @brief The entry of a Map's row behind a row of an argument.
///
/// The target is `entry + offset * (level + above)`, where `level` counts the layers of an extruded
/// Set from the bottom of its column; periodic: `(level + above + quotient) % levels - quotient %
/// levels` instead.
struct RowRef {
  int slot = 0;      ///< of the Map
  int offset = 0;    ///< from a layer to the next
  int quotient = 0;  ///< layers of the entry above the column's bottom
  int above = 0;     ///< 1: in the cell above, as the second half of an interior facet is
  bool operator==(const RowRef&) const = default;
};

/// @brief Rows of a ragged Map that an argument with a pack may have at most: the pack's length.
inline constexpr int most_ragged = 64;

/// @brief A path: a Map, and the entries of its rows that make up an argument.
///
/// Of a ragged Map the arity is `most_ragged`, and how many rows an element has is run-time data.
struct MapRef {
  int arity = 1;                  ///< rows of an argument
  int toset = 0;                  ///< number of the target Set, in order of first use
  int width = 0;                  ///< entries of a row of the Map; 0: as many as `arity`
  std::vector<RowRef> rows = {};  ///< [arity]; empty: all entries of the Map in their order
  bool ragged = false;            ///< each element has a number of rows of its own
  bool operator==(const MapRef&) const = default;
};

/// @brief Whether the layers of an extruded Set are as many in every column.
enum class Layers : std::uint8_t { none, constant, variable };

/// @brief How work items become elements. Sizes, lists and numbers of layers are run-time data.
struct Iteration {
  bool subset = false;           ///< elements are looked up in a list
  Layers layers = Layers::none;  ///< items are cells of columns; elements are the columns
  bool periodic = false;         ///< the top layer is below the bottom layer
  bool pass_layer = false;       ///< the kernel's last parameter is the layer
  int index_bytes = 4;           ///< width of the lists of elements, columns and levels
  bool pass_element = false;     ///< behind the layer: the element, or with layers the work item
  bool operator==(const Iteration&) const = default;
};

}  // namespace op2
