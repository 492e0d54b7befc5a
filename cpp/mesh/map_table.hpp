// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/error.hpp"

namespace op2::mesh {

/// @brief In the place of an arity: rows have entries of their own number.
inline constexpr int ragged = -1;

/// @brief The values of a Map: shape (n_rows, arity), row-major, entries in [0, n_targets).
///
/// A ragged Map has one array, too: n_rows + 1 places where rows begin, counted in this array, and
/// behind them the entries of all rows. So a row is `values[values[row]]` to
/// `values[values[row + 1]]`.
///
/// The memory belongs to others, as for a Buffer. Indices are int32 unless a target set is too
/// large.
class MapTable {
 public:
  MapTable(const void* values, int index_bytes, std::int64_t n_rows, int arity,
           std::int64_t n_targets)
      : values_(values),
        index_bytes_(index_bytes),
        n_rows_(n_rows),
        arity_(arity),
        n_targets_(n_targets) {}

  [[nodiscard]] const void* values() const { return values_; }
  [[nodiscard]] int index_bytes() const { return index_bytes_; }  ///< 4 or 8
  [[nodiscard]] std::int64_t n_rows() const { return n_rows_; }
  [[nodiscard]] bool is_ragged() const { return arity_ == ragged; }
  /// @throws UnsupportedError if the Map is ragged: who asks does not serve such Maps.
  [[nodiscard]] int arity() const {
    if (is_ragged()) {
      throw UnsupportedError("rows of a ragged Map differ in length, and here all must be equal");
    }
    return arity_;
  }
  [[nodiscard]] std::int64_t n_targets() const { return n_targets_; }

  /// @brief Where in values() the entries of @p row begin. They end where the next row begins; @p
  /// row may be n_rows().
  [[nodiscard]] std::int64_t begin(std::int64_t row) const {
    return is_ragged() ? index(row) : row * arity_;
  }
  [[nodiscard]] std::int64_t n_entries(std::int64_t row) const {
    return begin(row + 1) - begin(row);
  }
  [[nodiscard]] std::int64_t n_bytes() const { return begin(n_rows_) * index_bytes_; }

  /// @brief Call @p f(slot, target) for the entries of @p row in their order.
  template <class F>
  void visit(std::int64_t row, const F& f) const {
    const std::int64_t first = begin(row);
    const std::int64_t n = n_entries(row);
    for (std::int64_t slot = 0; slot < n; ++slot) f(static_cast<int>(slot), index(first + slot));
  }

  /// @brief The target (a node, or a degree of freedom) of slot @p slot (the local index) of
  /// element @p row.
  [[nodiscard]] std::int64_t at(std::int64_t row, int slot) const {
    return index(begin(row) + slot);
  }

  /// @brief Grows when the values are changed; plans built from older values are stale.
  [[nodiscard]] std::int64_t version() const { return version_; }
  void increment_version() { ++version_; }

  /// @brief Read the same values at another place from now on: plans built from the values still
  /// hold.
  void move_to(const void* values) { values_ = values; }

 private:
  [[nodiscard]] std::int64_t index(std::int64_t place) const {
    return index_bytes_ == 4 ? static_cast<const std::int32_t*>(values_)[place]
                             : static_cast<const std::int64_t*>(values_)[place];
  }

  const void* values_;
  int index_bytes_;
  std::int64_t n_rows_;
  int arity_;
  std::int64_t n_targets_;
  std::int64_t version_ = 0;
};

}  // namespace op2::mesh
