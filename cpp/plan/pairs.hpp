// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "mesh/map_table.hpp"
#include "plan/inverse.hpp"

namespace op2::plan {

/// @brief The incidences of elements that lead to two targets each, as columns of equal length.
///
/// Whoever visits a target then knows where the other target of each of its elements is without a
/// look at the element. Where a column has no incidence, one of the same target stands again, or
/// element 0 if it has none, so that nobody need ask before reading.
struct PairColumns {
  std::int64_t n_rows = 0;
  std::int64_t width = 0;
  std::int64_t n_core_rows = 0;  ///< as InverseMap says
  bool lists_rows = false;
  IndexArray rows;        // [n_rows] target of each row; lists_rows
  IndexArray neighbours;  // [width * n_rows] column by column, or row by row as is_by_rows() of
                          // base/column_layout.hpp says, without a sign: the other target * 4 + the
                          // own slot * 2 + 1 if there is no incidence

  [[nodiscard]] std::int64_t bytes() const;
};

/// @param[in] map What @p inverse is the inverse of: two targets an element, none negative.
/// @param[in] width Of the columns; 0: of the longest row.
/// @throws InternalError if it is another one, or rows are longer.
[[nodiscard]] PairColumns pair_columns(const InverseMap& inverse, const mesh::MapTable& map,
                                       int width, int n_threads);

/// @brief A Map composed with the inverse, in the same columns: what each incidence's element leads
/// to.
/// @param[in] index_bytes 4 or 8, of the result: whoever reads it was told before.
/// @param[in] width Of the columns; 0: of the longest row.
/// @return Shape (width, n_rows, arity), or (n_rows, width, arity) as neighbours.
/// @throws UsageError if elements are no rows of the map, or a target does not fit.
[[nodiscard]] IndexArray compose(const mesh::MapTable& map, const InverseMap& inverse, int width,
                                 int index_bytes, int n_threads);

/// @brief In the same columns, which entries of its target each incidence's element has, as most
/// edges have nodes of their cells: a byte as base/corner_codes.hpp describes.
/// @param[in] of_elements Rows of the elements.
/// @param[in] of_targets Rows of the targets; where one names an entry twice, the first one counts.
/// @param[in] width Of the columns; 0: of the longest row.
/// @return Shape (width, n_rows), or (n_rows, width) as neighbours.
/// @throws InternalError if a code does not fit a byte, or rows are longer than @p width.
/// @throws UsageError if elements or targets are no rows of the Maps, or the Maps end on Sets of
/// different size.
[[nodiscard]] std::vector<std::uint8_t> corner_codes(const mesh::MapTable& of_elements,
                                                     const mesh::MapTable& of_targets,
                                                     const InverseMap& inverse, int width,
                                                     int n_threads);

/// @brief The part of all incidences, from 0 to 1, whose element has an entry that its target does
/// not have; 0 if there are no incidences. Takes and throws what corner_codes() does.
[[nodiscard]] double part_elsewhere(const mesh::MapTable& of_elements,
                                    const mesh::MapTable& of_targets, const InverseMap& inverse,
                                    int n_threads);

}  // namespace op2::plan
