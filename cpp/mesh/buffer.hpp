// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace op2::mesh {

/// @brief Where a Dat's or Global's values live. A slot: launches read the address when they run.
///
/// The Python object owns the memory (a NumPy array); the Buffer only says where it is and how
/// often it has been written, so that loops can hold it without keeping data alive.
class Buffer {
 public:
  Buffer(void* data, std::int64_t n_bytes) : data_(data), n_bytes_(n_bytes) {}

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::int64_t n_bytes() const { return n_bytes_; }

  /// @brief PyOP2's `dat_version`: grows by one with every access that may write.
  [[nodiscard]] std::int64_t version() const { return version_; }
  void increment_version() { ++version_; }

  /// @brief Point at other memory (first allocation, or a swap).
  void reset(void* data, std::int64_t n_bytes) {
    data_ = data;
    n_bytes_ = n_bytes;
  }

 private:
  void* data_;
  std::int64_t n_bytes_;
  std::int64_t version_ = 0;
};

}  // namespace op2::mesh
