// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/abi.h"
#include "base/dtype.hpp"
#include "move/ckernel.hpp"

namespace op2::move {

/// @brief The operation of a kernel with an old value in the target.
enum class Update : std::uint8_t { add, min, max };

// Factories: each returns the offset behind the kernel.

/// @brief Copy items of @p n_bytes.
std::size_t add_copy(Builder& builder, std::size_t at, std::int64_t n_bytes, Request request);

/// @brief Set items to the same value of at most 16 bytes; reads no source.
std::size_t add_fill(Builder& builder, std::size_t at, const void* value, std::int64_t n_bytes,
                     Request request);

/// @brief Combine items with their targets: `to = to op from`. Integers wrap; complex numbers have
/// a sum only. A NaN stays. Many items with one target, of stride 0, are combined first: sums of
/// real numbers with their rounding errors.
/// @throws UsageError for the least or largest of complex numbers.
std::size_t add_update(Builder& builder, std::size_t at, DType dtype, Update update,
                       Request request);

/// @brief A compiled function, and the handle of its library.
struct Called {
  op2_launch_v1 launch = nullptr;  ///< argv: the target, then the sources; items side by side
  void* handle = nullptr;          ///< kept by the kernel from now on
  void (*release)(void* handle) = nullptr;
  std::int64_t item_bytes = 0;  ///< of the target and of each source
  int n_sources = 1;
};

/// @brief Call a compiled function; the handle is released with the kernel, in any case.
std::size_t add_call(Builder& builder, std::size_t at, const Called& called, Request request);

}  // namespace op2::move
