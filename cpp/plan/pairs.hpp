// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "mesh/map_table.hpp"
#include "plan/inverse.hpp"

namespace op2::plan {

/// @brief The incidences of elements with two targets each, as columns of equal length (ELLPACK).
///
/// A visitor of a target then knows the other target of each element without reading the element.
/// In place of a missing incidence another incidence of the same target stands, or element 0 for a
/// target without incidences, so nobody need ask before reading.
struct PairColumns {
  std::int64_t n_rows = 0;
  std::int64_t width = 0;
  std::int64_t n_core_rows = 0;  ///< as InverseMap says
  bool lists_rows = false;
  IndexArray rows;        // [n_rows] target of each row; lists_rows
  IndexArray neighbours;  // [width * n_rows] as PairLayout says, without a sign: the other target *
                          // 4 + the own slot * 2 + 1 if there is no incidence
  /// [n_groups, 2] for rows in groups: in columns before the first number all rows of the group
  /// have an incidence of slot 0, from the second number on an incidence of slot 1.
  std::vector<std::int32_t> slot_columns;

  [[nodiscard]] std::int64_t bytes() const;
};

/// @brief How columns of pairs lie in memory.
struct PairLayout {
  /// Of the columns, which lie column by column, or row by row as is_by_rows() of
  /// base/column_layout.hpp says; 0: of the longest row, column by column.
  int width = 0;
  /// Rows of a group, [n_groups, width, lanes]; the last row is repeated until its group is full.
  /// Incidences of slot 0 are in the first columns, incidences of slot 1 in the last. 0: rows are
  /// not in groups, and incidences are in the order of the inverse.
  int lanes = 0;
};

/// @param[in] map The Map behind @p inverse: two targets an element, none negative.
/// @throws InternalError if @p map is another Map, rows are longer than the width, or rows are to
/// be in groups and the inverse is not ordered by slot.
[[nodiscard]] PairColumns pair_columns(const InverseMap& inverse, const mesh::MapTable& map,
                                       const PairLayout& layout, int n_threads);

/// @brief A Map composed with the inverse, in the same columns: the targets of each incidence's
/// element.
/// @param[in] index_bytes 4 or 8, of the result, as agreed with the reader.
/// @return Shape (width, n_rows, arity), (n_rows, width, arity) or (n_groups, width, lanes, arity),
/// as neighbours.
/// @throws UsageError if elements are no rows of the map, or a target does not fit.
[[nodiscard]] IndexArray compose(const mesh::MapTable& map, const InverseMap& inverse,
                                 const PairLayout& layout, int index_bytes, int n_threads);

/// @brief In the same columns, the places of each element's entries among the entries of the
/// target, as most edges have nodes of their cells: a byte as described in base/corner_codes.hpp.
/// @param[in] of_elements Rows of the elements.
/// @param[in] of_targets Rows of the targets; of equal entries in a row the first counts.
/// @return Shape (width, n_rows), or (n_rows, width) as neighbours; of rows in groups (n_groups,
/// width), the code if all rows of the group have the same one, else 1.
/// @throws InternalError if a code does not fit a byte, or rows are longer than the width.
/// @throws UsageError if elements or targets are no rows of the Maps, or the Maps end on Sets of
/// different size.
[[nodiscard]] std::vector<std::uint8_t> corner_codes(const mesh::MapTable& of_elements,
                                                     const mesh::MapTable& of_targets,
                                                     const InverseMap& inverse,
                                                     const PairLayout& layout, int n_threads);

/// @brief The part of all incidences, from 0 to 1, whose element has an entry missing in its
/// target; 0 if there are no incidences. Parameters and errors as for corner_codes().
[[nodiscard]] double part_elsewhere(const mesh::MapTable& of_elements,
                                    const mesh::MapTable& of_targets, const InverseMap& inverse,
                                    int n_threads);

}  // namespace op2::plan
