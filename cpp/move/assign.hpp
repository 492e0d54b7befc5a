// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "move/leaves.hpp"

namespace op2::move {

/// @brief Rows of values and where they go: distances in bytes.
struct Rows {
  char* to = nullptr;
  const char* from = nullptr;
  std::int64_t n = 0;        ///< rows moved
  std::int64_t dim = 1;      ///< items of a row
  std::int64_t to_row = 0;   ///< from a row to the next
  std::int64_t to_item = 0;  ///< from an item of a row to the next
  std::int64_t from_row = 0;
  std::int64_t from_item = 0;
  Lists lists{};  ///< [n] each: rows of the target, rows of the source
};

/// @brief Rows of items side by side, in order.
[[nodiscard]] Rows dense_rows(void* to, const void* from, std::int64_t n, std::int64_t dim,
                              std::int64_t to_bytes, std::int64_t from_bytes);

/// @brief Say whether a value would be read after a write. A side by itself does not
/// count, nor do components of the same rows, side by side.
[[nodiscard]] bool overlap(const Rows& rows, const Type& to, const Type& from);

/// @brief Move items as they are. They do not overlap.
void copy_items(const Rows& rows, std::int64_t item_bytes, int n_threads);

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
