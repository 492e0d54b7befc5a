// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.hpp"
#include "cg/context.hpp"

namespace op2::cg {

/// Vectors of elements in C with the vector extensions of GCC and Clang, or where the dialect has
/// vectors of its own. Types are defined on the first request, at the top of the text.

/// @brief Name of a vector type, e.g. "op2_float64x8".
[[nodiscard]] std::string vector_name(DType dtype, int lanes);

/// @brief The name of a vector type, which is defined if it was not. Of complex numbers: a struct
/// of two vectors, `re` and `im`, which lies in memory as an array of them.
std::string vector_type(Context& context, DType dtype, int lanes);

/// @brief The name of a row of a Dat: a vector that may start anywhere, and is an array of scalars
/// to everybody else.
std::string row_type(Context& context, DType dtype, int lanes);

/// @brief The signed integer of masks for vectors of @p dtype.
[[nodiscard]] DType mask_dtype(DType dtype);

/// @brief What the parts of complex numbers are; others are their own part.
[[nodiscard]] DType part_of(DType dtype);

/// @brief @p type in the address space of arguments.
[[nodiscard]] std::string in_global_space(const Context& context, const std::string& type);

/// @brief The bits of @p value as those of another vector.
[[nodiscard]] std::string bits_as(const Context& context, const std::string& type,
                                  const std::string& value);

/// @brief The complex number of two parts.
[[nodiscard]] std::string complex_value(const Context& context, DType dtype, const std::string& re,
                                        const std::string& im);

namespace detail {

using Names = std::vector<std::string>;

/// How functions over lanes begin: none of them is called by anybody else.
inline constexpr std::string_view inlined = "static inline __attribute__((always_inline))";

[[nodiscard]] std::string joined(const Names& names, std::string_view separator = ", ");

/// @brief The items @p picks of two vectors, of the second one behind those of the first.
[[nodiscard]] std::string shuffled(const std::string& left, const std::string& right,
                                   const std::vector<int>& picks);

[[nodiscard]] std::vector<int> range(int begin, int end);

/// @brief What @p make returns for each lane.
template <class Make>
[[nodiscard]] Names for_lanes(int lanes, const Make& make) {
  Names out;
  for (int lane = 0; lane < lanes; ++lane) out.push_back(make(lane));
  return out;
}

}  // namespace detail
}  // namespace op2::cg
