// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace op2::plan {

/// @brief A number of entries, which is never negative, as the libraries' containers count.
[[nodiscard]] constexpr std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

}  // namespace op2::plan
