// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "move/ckernel.hpp"

namespace op2::move {

/// Common parts of leaves and combinators. A type of kernels is the data behind a prefix, with
/// a static function `one(self, items, scratch)` for an item, and for strides and lists faster
/// functions where there are any.

template <class Kernel>
[[nodiscard]] const Kernel& data_of(const Prefix* self) {
  return *reinterpret_cast<const Kernel*>(self);
}

/// @brief The kernel behind the data of a parent.
template <class Kernel>
[[nodiscard]] const Prefix* child_of(const Prefix* self) {
  return reinterpret_cast<const Prefix*>(reinterpret_cast<const char*>(self) + sizeof(Kernel));
}

template <class Kernel>
std::int64_t one_by_one(const Prefix* self, const Items& items, std::int64_t n, char* scratch) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (Kernel::one(self, items.behind(i), scratch) != all_fit) return i;
  }
  return all_fit;
}

template <class Kernel>
std::int64_t place_by_place(const Prefix* self, const Items& items, const Lists& lists,
                            std::int64_t n, char* scratch) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (Kernel::one(self, lists.at(items, i), scratch) != all_fit) return i;
  }
  return all_fit;
}

/// @brief The function of a type of kernels for a request.
template <class Kernel>
[[nodiscard]] void* function_for(Request request) {
  if (request == Request::single) {
    return reinterpret_cast<void*>(static_cast<Single>(&Kernel::one));
  }
  if (request == Request::strided) {
    if constexpr (requires { &Kernel::at_strides; }) {
      return reinterpret_cast<void*>(static_cast<Strided>(&Kernel::at_strides));
    } else {
      return reinterpret_cast<void*>(static_cast<Strided>(&one_by_one<Kernel>));
    }
  }
  if constexpr (requires { &Kernel::at_places; }) {
    return reinterpret_cast<void*>(static_cast<Indexed>(&Kernel::at_places));
  } else {
    return reinterpret_cast<void*>(static_cast<Indexed>(&place_by_place<Kernel>));
  }
}

}  // namespace op2::move
