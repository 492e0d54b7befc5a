// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "base/abi_types.hpp"

namespace op2::abi {

/// @brief Facts about an array of plans.
struct ArrayFacts {
  PlanArray array;
  std::string_view name;   ///< the name where a loop has no better name
  std::string_view dtype;  ///< "index": as wide as the numbers need
  std::string_view shape;
  std::string_view what;
};

/// @brief The table of all arrays of plans.
[[nodiscard]] const ArrayFacts& facts_of(PlanArray array);

}  // namespace op2::abi
