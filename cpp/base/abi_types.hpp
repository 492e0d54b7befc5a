// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
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
  matrix,    ///< of matrix number `index / 3`: array `index % 3`, a MatrixArray
  items,     ///< list number `index` of the visited elements
  plan,      ///< the plan's array `array`, number `index` of the arrays with this name
  local,     ///< computed by the launch: a partial result, a piece of scratch
  stride,    ///< a number: Stride of argument `index`
};

/// @brief The arrays of a matrix: where its rows start, the positions of entries in them, and, by
/// ragged Maps, where the positions of each element begin.
enum MatrixArray : std::uint8_t { row_starts, positions, position_begins, n_matrix_arrays };

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
  composed_rows,  ///< pairs, too: one for each of ComposedMaps::maps
  // staged
  staged_targets,    ///< one for each of StagedPlan::maps
  staged_positions,  ///< likewise
  n_staged,
  first_staged,
  staged_blocks,
  first_element,
  n_elements,
  n_lane_colours,
  lane_colour,
  has_incidences,  ///< inverse, padded: one for each of Inversion::further, on grids
  neighbours,      ///< pairs, columns: in the place of incidences
  corners,         ///< pairs, columns: one for each of the plan's corners
  slot_columns,    ///< columns of neighbours
  // entries, each one for each of EntriesPlan::matrices, then of EntriesPlan::maps
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

/// @brief The elements of each target: the incidences.
struct Inversion {
  std::vector<int> maps;     ///< the slots are the incidences, in slot order
  bool all_targets = false;  ///< rows also for targets without incidences
  std::vector<std::vector<int>> further =
      {};  ///< maps of more inverses, never padded: all targets have rows there
  bool operator==(const Inversion&) const = default;
};

/// @brief Maps with rows stored in the order of the incidences.
struct ComposedMaps {
  std::vector<int> maps;
  int bytes = 4;  ///< of an entry
  bool operator==(const ComposedMaps&) const = default;
};

// Plans: the input of the arrays that a strategy needs of the mesh. Maps are numbers of unique
// Maps.

/// @brief Elements in the order of the Set.
struct NoPlan {
  bool operator==(const NoPlan&) const = default;
};

/// @brief Blocks of consecutive elements, of a size chosen by the runtime, with colours.
struct BlocksPlan {
  /// Maps with different targets in blocks of a colour. Nothing where Maps do not decide: a single
  /// block has all elements.
  std::optional<std::vector<int>> conflicts;
  bool operator==(const BlocksPlan&) const = default;
};

/// @brief Elements by colour.
struct ColoursPlan {
  std::vector<int> conflicts;  ///< maps with different targets in elements of a colour
  bool operator==(const ColoursPlan&) const = default;
};

/// @brief Incidences target by target.
struct InversePlan {
  Inversion inversion;
  ComposedMaps composed = {};
  bool has_entries = true;  ///< else composed rows are all that is read of an incidence
  bool operator==(const InversePlan&) const = default;
};

/// @brief Incidences in rows of equal length, stored column by column.
struct PaddedPlan {
  Inversion inversion;
  ComposedMaps composed = {};
  bool has_entries = true;  ///< as InversePlan says
  bool operator==(const PaddedPlan&) const = default;
};

/// @brief Padded, of a single Map of two targets: an incidence is the other target.
struct PairsPlan {
  Inversion inversion;
  ComposedMaps composed = {};
  int columns = 0;                       ///< no row may be longer, and all are so long; 0: any
  std::vector<CornerMaps> corners = {};  ///< of composed Maps: which entries targets have
  bool operator==(const PairsPlan&) const = default;
};

/// @brief Incidences of a slot side by side, for groups of targets.
struct ColumnsPlan {
  Inversion inversion;
  int lanes = 0;  ///< targets of a group
  ComposedMaps composed = {};
  bool are_pairs = false;  ///< the first inverse in columns of neighbours, targets in their order
  std::vector<CornerMaps> corners = {};  ///< are_pairs, of composed Maps: as PairsPlan says
  bool operator==(const ColumnsPlan&) const = default;
};

/// @brief Blocks of elements with lists of their targets.
struct StagedPlan {
  std::vector<int> conflicts;  ///< maps with different targets in blocks of a colour
  int block_size = 0;
  std::vector<int> maps = {};  ///< with listed targets, in order
  bool operator==(const StagedPlan&) const = default;
};

/// @brief Elements in an order with different targets of neighbours.
struct InterleavedPlan {
  int map = 0;
  bool operator==(const InterleavedPlan&) const = default;
};

/// @brief Blocks of elements with lists of the entries and targets of sums.
struct EntriesPlan {
  int block_size = 0;
  int place_bytes = 4;
  std::vector<ListedMatrix> matrices = {};
  std::vector<int> maps = {};  ///< with targets listed after the matrices
  bool operator==(const EntriesPlan&) const = default;
};

using PlanSpec = std::variant<NoPlan, BlocksPlan, ColoursPlan, InversePlan, StagedPlan, PaddedPlan,
                              PairsPlan, InterleavedPlan, ColumnsPlan, EntriesPlan>;

/// @brief The inversion of @p plan, const or not; null if there is none.
template <class Plan>
[[nodiscard]] auto* inversion_of(Plan& plan) {
  using Found = std::conditional_t<std::is_const_v<Plan>, const Inversion, Inversion>;
  const auto find = [](auto& one) -> Found* {
    if constexpr (requires { one.inversion; }) {
      return &one.inversion;
    } else {
      return nullptr;
    }
  };
  return std::visit(find, plan);
}

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
