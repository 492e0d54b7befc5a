// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

namespace op2 {

namespace api {

/// @brief Memory from the begin of a cache line; for many bytes, from the begin of a large page,
/// and in large pages where the system has them. Not initialised.
/// @throws std::bad_alloc if there is not enough memory.
[[nodiscard]] void* allocated(std::size_t n_bytes);
/// @brief Give back a result of allocated() for as many bytes.
void deallocate(void* memory, std::size_t n_bytes) noexcept;

/// @brief The allocator of standard containers with such memory.
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

/// @brief Values of a program, as a std::vector, in memory like NumPy's arrays: loops over large
/// meshes without an order would wait for the tables of small pages otherwise.
template <class T>
using Array = std::vector<T, api::Allocator<T>>;

}  // namespace op2
