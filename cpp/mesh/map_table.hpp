// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace op2::mesh {

/// @brief The values of a Map: shape (n_rows, arity), row-major, entries in [0, n_targets).
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
  [[nodiscard]] int arity() const { return arity_; }
  [[nodiscard]] std::int64_t n_targets() const { return n_targets_; }

  /// @brief The target (a node, or a degree of freedom) of slot @p slot (the local index) of
  /// element @p row.
  [[nodiscard]] std::int64_t at(std::int64_t row, int slot) const {
    const std::int64_t entry = row * arity_ + slot;
    return index_bytes_ == 4 ? static_cast<const std::int32_t*>(values_)[entry]
                             : static_cast<const std::int64_t*>(values_)[entry];
  }

  /// @brief Grows when the values are changed; plans built from older values are stale.
  [[nodiscard]] std::int64_t version() const { return version_; }
  void increment_version() { ++version_; }

  /// @brief Read the same values at another place from now on: plans built from the values still
  /// hold.
  void move_to(const void* values) { values_ = values; }

 private:
  const void* values_;
  int index_bytes_;
  std::int64_t n_rows_;
  int arity_;
  std::int64_t n_targets_;
  std::int64_t version_ = 0;
};

}  // namespace op2::mesh
