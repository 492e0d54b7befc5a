// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/convert.hpp"

/// The loops of conversions and gathers: for kernels of trees, and for programs in C++.
namespace op2::move {

/// @brief A type in memory: truth is a byte.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

template <class T>
[[nodiscard]] T value_at(const char* place) {
  T value;
  std::memcpy(&value, place, sizeof value);  // of any alignment: values of files have none
  return value;
}

template <class To, bool are_held, class From>
[[gnu::always_inline]] inline void convert_value(char* to, const char* from) {
  const auto given = value_at<From>(from);
  Stored<To> value;
  if constexpr (are_held && std::is_integral_v<To> && std::is_floating_point_v<From>) {
    value = static_cast<Stored<To>>(given);
  } else {
    value = static_cast<Stored<To>>(converted<To>(given));
  }
  std::memcpy(to, &value, sizeof value);
}

/// @brief Convert @p n values at distances in bytes. Source and target do not overlap.
/// @tparam are_held All values are known to fit, so a cast is enough.
template <class To, class From, bool are_held = false>
void convert_values(char* __restrict to, std::int64_t to_stride, const char* __restrict from,
                    std::int64_t from_stride, std::int64_t n) {
  constexpr auto to_bytes = static_cast<std::int64_t>(sizeof(To));
  constexpr auto from_bytes = static_cast<std::int64_t>(sizeof(From));
  if (to_stride == to_bytes && from_stride == from_bytes) {  // constants, for vectors
    for (std::int64_t i = 0; i < n; ++i) {
      convert_value<To, are_held, From>(to + i * to_bytes, from + i * from_bytes);
    }
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      convert_value<To, are_held, From>(to + i * to_stride, from + i * from_stride);
    }
  }
}

template <class To, bool all_digits, class From>
[[nodiscard]] bool is_held(const From& value) {
  if constexpr (all_digits) return fits_exactly<To>(value);
  return fits<To>(value);
}

/// Whether a type does not hold some of @p n values side by side. Results are as wide as values,
/// and no branch ends the loop, for vectors.
template <class To, bool all_digits, class From>
[[gnu::always_inline]] inline bool is_any_unfit(const char* from, std::int64_t n) {
  using Word = std::conditional_t<
      sizeof(From) == 8, std::uint64_t,
      std::conditional_t<sizeof(From) == 4, std::uint32_t,
                         std::conditional_t<sizeof(From) == 2, std::uint16_t, std::uint8_t>>>;
  Word is_any = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto value = value_at<From>(from + i * static_cast<std::int64_t>(sizeof(From)));
    is_any = static_cast<Word>(is_any | (is_held<To, all_digits>(value) ? Word{0} : Word{1}));
  }
  return is_any != 0;
}

template <class To, bool all_digits, class From>
bool is_any_unfit_anywhere(const char* from, std::int64_t n) {
  return is_any_unfit<To, all_digits, From>(from, n);
}

#if defined(__x86_64__)
template <class To, bool all_digits, class From>
[[gnu::target("avx2")]] bool is_any_unfit_avx2(const char* from, std::int64_t n) {
  return is_any_unfit<To, all_digits, From>(from, n);
}
#endif

/// The fastest for this processor.
template <class To, bool all_digits, class From>
[[nodiscard]] auto unfit_finder() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return &is_any_unfit_avx2<To, all_digits, From>;
#endif
  return &is_any_unfit_anywhere<To, all_digits, From>;
}

/// @brief The number of the first of @p n values not held by a type; -1: none.
template <class To, class From, bool all_digits>
[[nodiscard]] std::int64_t first_unfit_value(const char* from, std::int64_t stride,
                                             std::int64_t n) {
  constexpr std::int64_t block = 1024;
  if constexpr (is_complex_v<From>) {  // as many parts
    using Part = typename From::value_type;
    if (stride == sizeof(From)) {
      const std::int64_t found = first_unfit_value<To, Part, all_digits>(from, sizeof(Part), 2 * n);
      return found < 0 ? found : found / 2;
    }
  }
  const auto first = [from, stride](std::int64_t begin, std::int64_t end) {
    while (begin < end && is_held<To, all_digits>(value_at<From>(from + begin * stride))) ++begin;
    return begin;
  };
  if (is_complex_v<From> || stride != sizeof(From)) {
    const std::int64_t found = first(0, n);
    return found == n ? -1 : found;
  }
  const auto is_any = unfit_finder<To, all_digits, From>();
  for (std::int64_t begin = 0; begin < n; begin += block) {
    const std::int64_t end = std::min(begin + block, n);
    if (is_any(from + begin * stride, end - begin)) return first(begin, end);
  }
  return -1;
}

}  // namespace op2::move
