// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/half.hpp"

namespace op2 {

/// @brief Which numbers a conversion takes.
enum class Casting : std::uint8_t {
  unsafe,   ///< all; those beyond an integer type become the nearest of it, NaN becomes 0
  fitting,  ///< those within the range of the type; digits are rounded or cut off
  exact,    ///< those that the way back leads to
};

template <class T>
inline constexpr bool is_complex_v = false;
template <class T>
inline constexpr bool is_complex_v<std::complex<T>> = true;

/// @brief The number behind the largest of an integer type, and its lowest one, in a real type.
template <std::integral To, std::floating_point From>
struct IntegerEnds {
  static constexpr auto low = static_cast<From>(std::numeric_limits<To>::min());
  // the largest integer may round up beyond the range, and its half is exact
  static constexpr auto end =
      std::is_same_v<To, bool>
          ? From{2}
          : static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * From{2};
};

/// @brief A number in another type, with the result of static_cast, but defined for every number.
///
/// A real number beyond the range of an integer type becomes the nearest integer of the type, and
/// NaN becomes 0: C++ leaves both undefined, and processors differ. Truth is any number but 0.
template <class To, class From>
[[nodiscard]] constexpr To converted(const From& from) {
  if constexpr (std::is_same_v<To, bool>) {
    return from != From{};
  } else if constexpr (is_half_v<From>) {
    return converted<To>(static_cast<float>(from));
  } else if constexpr (is_complex_v<To> && !is_complex_v<From>) {
    return To(static_cast<typename To::value_type>(from));
  } else if constexpr (std::integral<To> && std::floating_point<From>) {
    using Ends = IntegerEnds<To, From>;
    if (from >= Ends::end) return std::numeric_limits<To>::max();
    if (from < Ends::low) return std::numeric_limits<To>::min();
    return from == from ? static_cast<To>(from) : To{0};
  } else {
    return static_cast<To>(from);
  }
}

/// @brief Whether a type holds a number but for its digits after the point, or beyond its own
/// precision. Infinities and NaN fit all real types, and no integer type.
template <class To, class From>
[[nodiscard]] constexpr bool fits(const From& from) {
  if constexpr (is_complex_v<From>) {
    const bool is_real_held = fits<To>(from.real());
    return fits<To>(from.imag()) && is_real_held;
  } else if constexpr (is_complex_v<To>) {
    return fits<typename To::value_type>(from);
  } else if constexpr (is_half_v<From>) {
    return fits<To>(static_cast<float>(from));
  } else if constexpr (is_half_v<To>) {
    const auto wide = static_cast<double>(from);
    const bool is_finite = std::isfinite(static_cast<float>(To(wide)));
    return is_finite || !std::isfinite(wide);
  } else if constexpr (std::floating_point<To>) {
    if constexpr (std::floating_point<From> && sizeof(To) < sizeof(From)) {
      // half a step above the largest number: from there on numbers are rounded to infinity
      using Limits = std::numeric_limits<To>;
      constexpr From end = From{Limits::max()} + From{Limits::epsilon()} / From{Limits::min()};
      const From size = std::abs(from);
      const bool is_beyond = size >= end;  // both are evaluated: without branches, for vectors
      const bool is_finite = size <= std::numeric_limits<From>::max();
      return !(is_beyond && is_finite);
    }
    return true;
  } else if constexpr (std::floating_point<From>) {
    using Ends = IntegerEnds<To, From>;
    const bool is_below = from < Ends::end;
    const bool is_above = from >= Ends::low;
    return is_below && is_above;
  } else if constexpr (std::is_same_v<To, bool>) {
    return from == From{0} || from == From{1};
  } else {
    return std::in_range<To>(from);
  }
}

/// @brief Whether a type holds a number with all digits: the way back leads to it.
template <class To, class From>
[[nodiscard]] constexpr bool fits_exactly(const From& from) {
  if constexpr (is_complex_v<From>) {
    const bool is_real_held = fits_exactly<To>(from.real());
    return fits_exactly<To>(from.imag()) && is_real_held;
  } else if constexpr (is_complex_v<To>) {
    return fits_exactly<typename To::value_type>(from);
  } else if constexpr (is_half_v<From>) {
    return fits_exactly<To>(static_cast<float>(from));
  } else if constexpr (is_half_v<To>) {
    const auto wide = static_cast<double>(from);
    return fits_exactly<double>(from) && (wide != wide || static_cast<double>(To(wide)) == wide);
  } else if constexpr (std::floating_point<To> && std::floating_point<From>) {
    const bool is_number = from == from;
    const bool is_same = static_cast<From>(static_cast<To>(from)) == from;
    return is_same || !is_number;
  } else if constexpr (std::floating_point<To>) {
    const To to = static_cast<To>(from);
    return to < IntegerEnds<From, To>::end && static_cast<From>(to) == from;
  } else if constexpr (std::floating_point<From>) {
    return fits<To>(from) && static_cast<From>(static_cast<To>(from)) == from;
  } else {
    return fits<To>(from);
  }
}

}  // namespace op2
