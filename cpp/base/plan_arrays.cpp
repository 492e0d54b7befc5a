// SPDX-License-Identifier: BSD-3-Clause
#include "base/plan_arrays.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace op2::abi {
namespace {

constexpr std::array table{
    ArrayFacts{PlanArray::none, "none", "", "", "not of a plan"},
    ArrayFacts{PlanArray::sizes, "sizes", "int64", "[1 or 2]",
               "colours; or rows, and padded columns of a row"},
    ArrayFacts{PlanArray::colour_offset, "colour_offset", "int64", "[n_colours + 1]",
               "where the blocks or elements of each colour begin"},
    ArrayFacts{PlanArray::block_of, "block_of", "int64", "[n_blocks]", "blocks by colour"},
    ArrayFacts{PlanArray::block_offset, "block_offset", "int64", "[n_blocks + 1]",
               "where the elements of each block begin"},
    ArrayFacts{PlanArray::elements, "element", "index", "[n_elements]", "elements by colour"},
    ArrayFacts{PlanArray::incidence_offset, "incidence_offset", "int64", "[n_rows + 1]",
               "where the incidences of each target begin"},
    ArrayFacts{PlanArray::incidences, "incidence", "index", "[n_incidences] or [width, n_rows]",
               "element * slots + slot; -1 where a padded column has none"},
    ArrayFacts{PlanArray::touched, "touched", "index", "[n_rows]",
               "the target of each row; absent: all in order"},
    ArrayFacts{PlanArray::column_offset, "column_offset", "int64", "[n_groups + 1]",
               "where the columns of each group of targets begin"},
    ArrayFacts{PlanArray::column_slot, "column_slot", "int32", "[n_columns]",
               "the slot that all incidences of a column have"},
    ArrayFacts{PlanArray::column_elements, "incidence", "index", "[n_columns, lanes]",
               "the element; -1 - another one where there is none"},
    ArrayFacts{PlanArray::column_targets, "row_target", "index", "[n_rows]",
               "the target of each lane, group by group"},
    ArrayFacts{
        PlanArray::composed_rows, "rows", "index",
        "[n_incidences, arity], [n_columns, lanes, arity], [width, n_rows, arity] or "
        "[n_rows, width, arity]",
        "where the elements of the incidences lead by a Map; -1 where a padded column has none"},
    ArrayFacts{PlanArray::staged_targets, "ind_map", "int32", "[n_staged of all blocks]",
               "the targets of each block, ascending"},
    ArrayFacts{PlanArray::staged_positions, "loc_map", "uint16", "[n_elements, arity]",
               "where in its block's targets an entry is"},
    ArrayFacts{PlanArray::n_staged, "ind_sizes", "int32", "[n_blocks, n_lists]",
               "targets of a block in a list"},
    ArrayFacts{PlanArray::first_staged, "ind_offs", "int64", "[n_blocks, n_lists]",
               "where they begin in the list"},
    ArrayFacts{PlanArray::staged_blocks, "blkmap", "int32", "[n_blocks]", "blocks by colour"},
    ArrayFacts{PlanArray::first_element, "offset", "int64", "[n_blocks]",
               "the first element of each block"},
    ArrayFacts{PlanArray::n_elements, "nelems", "int32", "[n_blocks]", "elements of each block"},
    ArrayFacts{PlanArray::n_lane_colours, "nthrcol", "int32", "[n_blocks]",
               "colours of the elements of each block"},
    ArrayFacts{PlanArray::lane_colour, "thrcol", "int32", "[n_elements]",
               "the colour of an element within its block"},
    ArrayFacts{PlanArray::has_incidences, "has_incidences", "uint8", "[n_rows]",
               "1 where a target has incidences"},
    ArrayFacts{
        PlanArray::neighbours, "neighbour", "index",
        "[width, n_rows], or [n_rows, width] if a text reads an even number of columns ahead",
        "the element's other target * 4 + the own slot * 2 + 1 where there is none"},
    ArrayFacts{
        PlanArray::corners, "corner", "uint8",
        "[width, n_rows] or [n_rows, width]; for lanes [n_groups, width]",
        "1 where the elements' entries are looked up; or 2 * which of the targets' they are"},
    ArrayFacts{PlanArray::slot_columns, "slot_columns", "int32", "[n_groups, 2]",
               "the first column with incidences of both slots or of none in a group of targets, "
               "behind those of slot 0; and the first column of slot 1"},
    ArrayFacts{PlanArray::first_entry, "first_entry", "int64", "[n_blocks + 1]",
               "where the entries of the matrix, or targets of the Map, begin that a block of "
               "elements adds to"},
    ArrayFacts{PlanArray::entry_place, "entry_place", "index", "[n_entries of all blocks]",
               "which scalar of the matrix's values that is, or which target"},
    ArrayFacts{PlanArray::first_summand, "first_summand", "uint16", "[n_entries + n_blocks]",
               "where its summands begin in those of the block; one number more for each block"},
    ArrayFacts{
        PlanArray::summand, "summand", "uint16", "[n_elements * scalars or slots of an element]",
        "scalar of the element's matrix, or slot of its row of the Map, * elements of a block + "
        "element within the block"},
};

}  // namespace

const ArrayFacts& facts_of(PlanArray array) {
  const auto found = std::find_if(table.begin(), table.end(), [array](const ArrayFacts& facts) {
    return facts.array == array;
  });
  if (found == table.end()) throw InternalError("facts_of: not an array of a plan");
  return *found;
}

}  // namespace op2::abi
