// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/map_table.hpp"
#include "plan/index_array.hpp"
#include "plan/slot_columns.hpp"

namespace op2::plan {

/// @brief A Map composed with the inverse of another: the targets of each incidence's element.
///
/// A visitor of columns of incidences then reads the rows in sequence, without looking up the
/// element first and its row afterwards. A lane without an incidence has the targets of the element
/// repeated there.
///
/// @param[in] subset The rows of the map behind the elements of the columns; null: the elements.
/// @param[in] index_bytes 4 or 8, of the result, as agreed with the reader.
/// @return Shape (n_columns, lanes, arity), row-major.
/// @throws UsageError if the columns have elements that are no rows of the map, or a target does
/// not fit.
[[nodiscard]] IndexArray compose(const mesh::MapTable& map, const SlotColumns& columns,
                                 const mesh::MapTable* subset, int index_bytes, int n_threads);

/// @brief The same in the order of the incidences of an inverse, or of its padded columns.
///
/// @param[in] entries InverseMap::entries, or PaddedInverse::columns, of Maps with a single slot.
/// @return Shape (n_entries, arity), row-major; -1 where a column has no incidence.
[[nodiscard]] IndexArray compose(const mesh::MapTable& map, const IndexArray& entries,
                                 int index_bytes, int n_threads);

}  // namespace op2::plan
