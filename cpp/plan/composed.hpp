// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/map_table.hpp"
#include "plan/index_array.hpp"
#include "plan/inverse.hpp"
#include "plan/slot_columns.hpp"

namespace op2::plan {

/// @brief A Map composed with the inverse of another: what each incidence's element leads to.
///
/// Whoever goes through the incidences of a target then reads its rows one after the other, instead
/// of looking up the element first and its row behind that.
///
/// @param[in] map Its rows are what the inverse's entries number: elements, or positions.
/// @return Shape (n_entries, arity), row-major.
/// @throws UsageError if the inverse has elements that are no rows of the map.
[[nodiscard]] IndexArray compose(const mesh::MapTable& map, const InverseMap& inverse,
                                 int n_threads);

/// @brief The same by columns, so that consecutive rows read consecutive memory.
///
/// Where a column has no incidence of a row, what the row's first one leads to is repeated, and
/// of a row without any what element 0 leads to: lanes that are off read what is there.
///
/// @return Shape (width, arity, n_rows): entry `(column * arity + slot) * n_rows + row`; nothing if
/// the map has no rows.
/// @throws UsageError as above.
[[nodiscard]] IndexArray compose(const mesh::MapTable& map, const PaddedInverse& inverse,
                                 int n_threads);

/// @brief The same by columns of one slot; a lane without an incidence leads where the element that
/// it repeats does.
///
/// @param[in] subset Which rows of the map the elements of the columns stand for; null: those.
/// @param[in] index_bytes 4 or 8, of the result: whoever reads it was told before.
/// @return Shape (n_columns, lanes, arity), row-major.
/// @throws UsageError as above, or if a target does not fit.
[[nodiscard]] IndexArray compose(const mesh::MapTable& map, const SlotColumns& columns,
                                 const mesh::MapTable* subset, int index_bytes, int n_threads);

}  // namespace op2::plan
