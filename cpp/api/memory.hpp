// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

namespace op2 {

namespace api {

/// @brief Memory that begins at a cache line; of many bytes, at a large page, and in such pages
/// where the system has them. Not initialised.
/// @throws std::bad_alloc if there is not as much.
[[nodiscard]] void* allocated(std::size_t n_bytes);
/// @brief Give back what allocated() returned for as many bytes.
void deallocate(void* memory, std::size_t n_bytes) noexcept;

/// @brief Where standard containers get such memory.
template <class T>
struct Allocator {
  using value_type = T;

  Allocator() = default;
  template <class U>
  Allocator(const Allocator<U>& /*other*/) {}

  [[nodiscard]] T* allocate(std::size_t n) {
    if (n > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(allocated(n * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t n) noexcept { api::deallocate(memory, n * sizeof(T)); }

  bool operator==(const Allocator& /*other*/) const { return true; }
};

}  // namespace api

/// @brief Values of a program, as a std::vector, in memory as NumPy's arrays have it: loops that
/// visit large meshes in no order wait for the tables of small pages otherwise.
template <class T>
using Array = std::vector<T, api::Allocator<T>>;

}  // namespace op2
