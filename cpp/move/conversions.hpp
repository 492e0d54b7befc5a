// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "base/convert.hpp"
#include "base/dtype.hpp"
#include "move/ckernel.hpp"

namespace op2::move {

/// @brief The casting of a name. @throws UsageError naming all castings.
[[nodiscard]] Casting casting_from(std::string_view name);

/// @brief A type of values: a number of a DType, or truth in a byte.
struct Type {
  DType dtype = DType::float64;
  bool is_truth = false;  ///< then dtype is uint8

  bool operator==(const Type&) const = default;
};

[[nodiscard]] std::string_view name_of(const Type& type);

/// @brief Whether values of a type may be of use in another: complex numbers do not become real.
[[nodiscard]] bool are_convertible(const Type& to, const Type& from);

/// @brief Whether no number of a type needs a check for another.
[[nodiscard]] bool always_fits(const Type& to, const Type& from, Casting casting);

/// @brief A leaf for calls outside of trees.
struct Leaf {
  Prefix prefix;

  std::int64_t run(const Items& items, std::int64_t n) const {
    return call(&prefix, items, n, nullptr);
  }
};

/// @brief The conversion of values at strides, unsafe. @throws UsageError for complex to real.
[[nodiscard]] Leaf conversion(const Type& to, const Type& from);

// Factories: each returns the offset behind the kernel.

/// @brief Convert items, all numbers; see Casting::unsafe.
/// @param[in] are_held All items were checked before.
/// @throws UsageError for complex to real.
std::size_t add_convert(Builder& builder, std::size_t at, const Type& to, const Type& from,
                        Request request, bool are_held = false);

/// @brief Find the first item not held by a type; writes nothing.
std::size_t add_check(Builder& builder, std::size_t at, const Type& to, const Type& from,
                      Casting casting, Request request);

}  // namespace op2::move
