// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <limits>

namespace op2 {

/// @brief A number in another type, with the result of static_cast, but defined for every number.
///
/// A real number beyond the range of an integer type becomes the nearest integer of the type, and
/// NaN becomes 0: C++ leaves both undefined, and processors differ.
template <class To, class From>
[[nodiscard]] constexpr To converted(const From& from) {
  if constexpr (std::integral<To> && std::floating_point<From>) {
    constexpr auto low = static_cast<From>(std::numeric_limits<To>::min());
    // the largest integer may round up beyond the range, and its half is exact
    constexpr auto end = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * From{2};
    if (from >= end) return std::numeric_limits<To>::max();
    if (from < low) return std::numeric_limits<To>::min();
    return from == from ? static_cast<To>(from) : To{0};
  } else {
    return static_cast<To>(from);
  }
}

}  // namespace op2
