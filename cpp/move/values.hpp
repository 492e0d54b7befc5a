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

/// @brief Convert @p n values at distances in bytes. Source and target do not overlap.
template <class To, class From>
void convert_values(char* __restrict to, std::int64_t to_stride, const char* __restrict from,
                    std::int64_t from_stride, std::int64_t n) {
  const auto convert = [to, from](std::int64_t to_bytes, std::int64_t from_bytes, std::int64_t i) {
    const auto value =
        static_cast<Stored<To>>(converted<To>(value_at<From>(from + i * from_bytes)));
    std::memcpy(to + i * to_bytes, &value, sizeof value);
  };
  // constant distances, for vectors
  if (to_stride == sizeof(To) && from_stride == sizeof(From)) {
    for (std::int64_t i = 0; i < n; ++i) convert(sizeof(To), sizeof(From), i);
  } else {
    for (std::int64_t i = 0; i < n; ++i) convert(to_stride, from_stride, i);
  }
}

template <class To, bool all_digits, class From>
[[nodiscard]] bool is_held(const From& value) {
  if constexpr (all_digits) return fits_exactly<To>(value);
  return fits<To>(value);
}

/// @brief The number of the first of @p n values not held by a type; -1: none.
template <class To, class From, bool all_digits>
[[nodiscard]] std::int64_t first_unfit_value(const char* from, std::int64_t stride,
                                             std::int64_t n) {
  constexpr std::int64_t block = 512;
  const auto unfit = [from](std::int64_t bytes, std::int64_t i) {
    return !is_held<To, all_digits>(value_at<From>(from + i * bytes));
  };
  for (std::int64_t begin = 0; begin < n; begin += block) {
    const std::int64_t end = std::min(begin + block, n);
    unsigned int is_any = 0;  // without a way out, for vectors
    if (stride == sizeof(From)) {
      for (std::int64_t i = begin; i < end; ++i) is_any |= unfit(sizeof(From), i) ? 1U : 0U;
    } else {
      for (std::int64_t i = begin; i < end; ++i) is_any |= unfit(stride, i) ? 1U : 0U;
    }
    if (is_any == 0) continue;
    for (std::int64_t i = begin; i < end; ++i) {
      if (unfit(stride, i)) return i;
    }
  }
  return -1;
}

}  // namespace op2::move
