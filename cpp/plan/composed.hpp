// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mesh/map_table.hpp"
#include "plan/index_array.hpp"
#include "plan/slot_columns.hpp"

namespace op2::plan {

/// @brief A Map composed with the inverse of another: what each incidence's element leads to.
///
/// Whoever goes through columns of incidences then reads its rows one after the other, instead of
/// looking up the element first and its row behind that. A lane without an incidence leads where
/// the element that it repeats does.
///
/// @param[in] subset Which rows of the map the elements of the columns stand for; null: those.
/// @param[in] index_bytes 4 or 8, of the result: whoever reads it was told before.
/// @return Shape (n_columns, lanes, arity), row-major.
/// @throws UsageError if the columns have elements that are no rows of the map, or a target does
/// not fit.
[[nodiscard]] IndexArray compose(const mesh::MapTable& map, const SlotColumns& columns,
                                 const mesh::MapTable* subset, int index_bytes, int n_threads);

}  // namespace op2::plan
