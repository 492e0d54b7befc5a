// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace op2::plan {

/// @brief A number of entries, never negative, in the type that the libraries' containers use.
[[nodiscard]] constexpr std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

}  // namespace op2::plan
