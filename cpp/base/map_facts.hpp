// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace op2 {

/// @brief All that code generation may know of a map's values: data-free and small.
///
/// Negative entries mean "no target" and count for nothing. By default nothing is known.
struct MapFacts {
  int index_bytes = 4;       ///< 4 or 8
  bool injective = false;    ///< no target is named twice
  bool has_negative = true;  ///< some entries may lead nowhere

  bool operator==(const MapFacts&) const = default;
};

}  // namespace op2
