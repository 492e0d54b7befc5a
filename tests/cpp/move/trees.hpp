// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <cstring>

#include "move/combinators.hpp"
#include "move/conversions.hpp"

namespace op2::move::testing {

inline constexpr Type float64{DType::float64, false};
inline constexpr Type float32{DType::float32, false};
inline constexpr Type int32{DType::int32, false};
inline constexpr Type int64{DType::int64, false};
inline constexpr Type int8{DType::int8, false};

inline auto copying(std::int64_t n_bytes) {
  return [n_bytes](Builder& builder, std::size_t at, Request request) {
    return add_copy(builder, at, n_bytes, request);
  };
}

inline auto converting(const Type& to, const Type& from) {
  return [to, from](Builder& builder, std::size_t at, Request request) {
    return add_convert(builder, at, to, from, request);
  };
}

inline auto checking(const Type& to, const Type& from, Casting casting = Casting::fitting) {
  return [to, from, casting](Builder& builder, std::size_t at, Request request) {
    return add_check(builder, at, to, from, casting, request);
  };
}

/// A conversion with its check in front.
inline auto checked(const Type& to, const Type& from) {
  return [to, from](Builder& builder, std::size_t at, Request request) {
    return add_sequence(builder, at, request, checking(to, from), converting(to, from));
  };
}

/// Two conversions with a buffer between them.
inline auto chained(const Type& to, const Type& between, const Type& from) {
  return [to, between, from](Builder& builder, std::size_t at, Request request) {
    const auto n_bytes = static_cast<std::int64_t>(size_of(between.dtype));
    return add_chain(builder, at, n_bytes, request, checked(between, from),
                     converting(to, between));
  };
}

/// Memory that moves at each request, and whose old place reads as nonsense.
inline void* grow_elsewhere(void* old, std::size_t n_old, std::size_t n_new) {
  void* const larger = std::malloc(n_new);
  if (old != nullptr) {
    std::memcpy(larger, old, n_old);
    std::memset(old, 0xDD, n_old);
    std::free(old);
  }
  return larger;
}

}  // namespace op2::move::testing
