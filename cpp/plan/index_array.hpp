// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

#include "base/overload.hpp"

namespace op2::plan {

/// @brief Indices of elements or targets: 4 bytes wherever they fit, because plans are streamed.
using IndexArray = std::variant<std::vector<std::int32_t>, std::vector<std::int64_t>>;

/// @brief Whether all indices below @p n fit 4 bytes.
[[nodiscard]] inline bool fits_int32(std::int64_t n) {
  return n <= std::numeric_limits<std::int32_t>::max();
}

/// @brief An array of @p size zeros with room for every index below @p n.
[[nodiscard]] inline IndexArray make_index_array(std::int64_t size, std::int64_t n) {
  const auto count = static_cast<std::size_t>(size);
  if (fits_int32(n)) return std::vector<std::int32_t>(count);
  return std::vector<std::int64_t>(count);
}

/// @brief Memory of any vector of a plan.
template <class T, class Allocator>
[[nodiscard]] std::int64_t bytes_of(const std::vector<T, Allocator>& values) {
  return static_cast<std::int64_t>(values.size() * sizeof(T));
}

[[nodiscard]] inline std::int64_t bytes_of(const IndexArray& indices) {
  return std::visit(
      overload{[](const std::vector<std::int32_t>& narrow) { return bytes_of(narrow); },
               [](const std::vector<std::int64_t>& wide) { return bytes_of(wide); }},
      indices);
}

}  // namespace op2::plan
