// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>

namespace op2 {

/// @brief The one thing code generation may know of a map's values: data-free and small.
///
/// The degree of a target is the number of map entries that name it. Negative entries mean "no
/// target" and count for nothing. By default nothing is known: any degree, any sign.
struct MapFacts {
  int index_bytes = 4;          ///< 4 or 8
  std::int64_t degree_min = 0;  ///< over all targets, also those that no entry names
  std::int64_t degree_max = std::numeric_limits<std::int64_t>::max();
  bool injective = false;    ///< no target is named twice
  bool has_negative = true;  ///< some entries may lead nowhere

  bool operator==(const MapFacts&) const = default;
};

}  // namespace op2
