// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "move/conversions.hpp"
#include "move/leaves.hpp"
#include "move/rows.hpp"

namespace op2::move {

/// @brief Say whether a value would be read after a write. A side by itself does not
/// count, nor do components of the same rows, side by side.
[[nodiscard]] bool overlap(const Rows& rows, const Type& to, const Type& from);

/// @brief Combine values with those of the target, both of a type: `to = to op from`. No row of the
/// target comes twice.
/// @throws UsageError for the least or largest of complex numbers.
void update_items(const Rows& rows, DType dtype, Update update, int n_threads);

/// @brief The first row with a value not held by a type; all_fit: none.
/// @throws UsageError for complex to real.
[[nodiscard]] std::int64_t first_unfit(const Rows& rows, const Type& to, const Type& from,
                                       Casting casting, int n_threads);

/// @brief Move values into another type. Of a value without a place in it the row is returned, the
/// first, and nothing is changed.
/// @param[in] is_checked The values are known to fit: see first_unfit.
/// @throws UsageError for complex to real, and for memory of both that overlaps.
[[nodiscard]] std::int64_t assign(const Rows& rows, const Type& to, const Type& from,
                                  Casting casting, int n_threads, bool is_checked = false);

/// @brief The trees of an assignment and their bytes of scratch, for users.
[[nodiscard]] std::string explain(const Rows& rows, const Type& to, const Type& from,
                                  Casting casting);

}  // namespace op2::move
