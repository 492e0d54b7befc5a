// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace op2::plan {

/// @brief Leaves new numbers uninitialised, so the writing threads are the first to touch the
/// pages.
template <class T>
struct RawAllocator : std::allocator<T> {
  template <class Other>
  struct rebind {
    using other = RawAllocator<Other>;
  };

  template <class U, class... Arguments>
  void construct(U* where, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) == 0) {
      ::new (static_cast<void*>(where)) U;
    } else {
      ::new (static_cast<void*>(where)) U(std::forward<Arguments>(arguments)...);
    }
  }
};

/// @brief A vector that is not zeroed when lengthened.
template <class T>
using RawVector = std::vector<T, RawAllocator<T>>;

}  // namespace op2::plan
