// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.hpp"

namespace op2::abi {

/// The input of a compiled loop, and the data needed before a launch. Compilers of loops write the
/// record, the run-time reads the record; neither sees the other.

/// @brief A variable's type: a scalar, an array of `extent`, or a pointer. An array of pointers
/// stays in memory, and each pointer is loaded at its use.
struct VariableType {
  DType dtype = DType::int64;
  bool is_const = false;
  bool is_pointer = false;
  int lanes = 0;  ///< values of as many elements side by side; 0: of a single element
  bool operator==(const VariableType&) const = default;
};

/// @brief The meaning of a wrapper's parameter, or of an entry of a launch's argv.
enum class Role : std::uint8_t {
  data,      ///< the Dat, Global or Constant of argument `index`
  constant,  ///< Const number `index`
  map,       ///< unique Map number `index`
  matrix,    ///< of matrix number `index / 2`: 0 the starts of rows, 1 positions of entries
  items,     ///< list number `index` of the visited elements
  plan,      ///< the plan's array `array`, number `index` of the arrays with this name
  local,     ///< computed by the launch: a partial result, a piece of scratch
  stride,    ///< a number: Stride of argument `index`
};

/// @brief The content of a plan's array; plan/arrays.hpp has the shapes and makes the arrays.
enum class PlanArray : std::uint8_t {
  none,
  sizes,
  // blocks, colours
  colour_offset,
  block_of,
  block_offset,
  elements,
  // inverse, padded
  incidence_offset,
  incidences,
  touched,
  // columns
  column_offset,
  column_slot,
  column_elements,
  column_targets,
  composed_rows,  ///< padded, too: one for each of PlanSpec::composed
  // staged
  staged_targets,    ///< one for each of PlanSpec::staged
  staged_positions,  ///< likewise
  n_staged,
  first_staged,
  staged_blocks,
  first_element,
  n_elements,
  n_lane_colours,
  lane_colour,
  has_incidences,  ///< inverse, padded: one for each of PlanSpec::further, on grids
  neighbours,      ///< padded: of PlanSpec::pairs, in the place of incidences
  corners,         ///< likewise: one for each of PlanSpec::corners
  // entries, each one for each of PlanSpec::listed, then of PlanSpec::listed_maps
  first_entry,
  entry_place,
  first_summand,
  summand,
};

struct Parameter {
  std::string name;
  VariableType type;
  bool is_restrict = false;
  Role role = Role::data;
  int index = 0;
  PlanArray array = PlanArray::none;
  bool operator==(const Parameter&) const = default;
};

/// @brief Which plan a strategy needs: a group of PlanArray.
enum class PlanKind : std::uint8_t {
  none,
  blocks,
  colours,
  inverse,
  staged,
  padded,
  interleaved,
  columns,
  entries,
};

/// @brief A matrix whose entries are listed block by block, and how large its blocks of scalars
/// are.
struct ListedMatrix {
  int matrix = 0;
  int row_dim = 1;
  int col_dim = 1;
  bool operator==(const ListedMatrix&) const = default;
};

/// @brief A Map from elements to rows that their targets often have, too, and the Map by which the
/// targets have them: as edges share nodes with their cells.
struct CornerMaps {
  int of_elements = 0;
  int of_targets = 0;
  bool operator==(const CornerMaps&) const = default;
};

struct PlanSpec {
  PlanKind kind = PlanKind::none;
  std::vector<int> conflicts;    ///< maps whose targets must differ between concurrent items
  std::vector<int> occurrences;  ///< inverse: maps whose slots are the incidences, in slot order
  int block_size = 0;         ///< blocks, staged, entries: elements a block, 0: the runtime chooses
  bool single_block = false;  ///< blocks: conflicts cannot be told from maps; run serially
  std::vector<int> staged = {};    ///< staged: maps whose targets a block lists, in order
  int interleaved = -1;            ///< interleaved: the map whose targets elements take turns at
  int lanes = 0;                   ///< columns: targets of a group
  std::vector<int> composed = {};  ///< columns, pairs: maps whose rows follow the columns, in order
  int composed_bytes = 4;          ///< columns, pairs: width of their entries
  bool pairs = false;              ///< padded: of a map of two targets; incidences are neighbours
  int columns = 0;                 ///< pairs: no row may be longer, and all are so long; 0: any
  std::vector<CornerMaps> corners = {};  ///< pairs: of composed Maps, which entries targets have
  bool all_targets = false;  ///< inverse, padded: rows also for targets without incidences
  std::vector<std::vector<int>> further = {};  ///< likewise: occurrences of more inverses, all of
                                               ///< whose targets have rows; none of them is padded
  std::vector<ListedMatrix> listed = {};       ///< entries: the matrices, in order
  std::vector<int> listed_maps = {};           ///< entries: maps whose targets follow them
  int place_bytes = 4;                         ///< entries: width of their places
  bool operator==(const PlanSpec&) const = default;
};

/// @brief Scratch memory of a launch: `per_slot` bytes for each reduction slot, then `per_item`
/// bytes for each work item.
struct ScratchSpec {
  std::int64_t per_slot = 0;
  std::int64_t per_item = 0;
  std::int64_t chunk = 0;  ///< items a slot; 0: one slot a thread, -1: one slot an item
  bool operator==(const ScratchSpec&) const = default;
};

/// @brief What work items [begin, end) of a launch count.
enum class Items : std::uint8_t { elements, blocks, targets, groups };

}  // namespace op2::abi
