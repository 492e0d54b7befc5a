// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace op2::plan {

/// @brief Orders of visits to the cells of a regular grid.
enum class Curve {
  hilbert,  ///< consecutive cells are neighbours
  morton,   ///< cheaper to compute, with jumps
  lines,    ///< along lines as far apart as points are on average, in the longest direction
};

/// @brief The place of each point along the curve.
///
/// Points fall into the cells of a grid over the smallest cube around all points, 2^31 cells a side
/// in one and two dimensions, 2^21 in three. Lines follow each other along the next direction.
/// @param[in] coordinates Shape (n_points, dim), row-major.
/// @param[in] dim 1, 2 or 3.
/// @throws UsageError for another dim, or a coordinate that is not finite.
[[nodiscard]] std::vector<std::uint64_t> curve_keys(Curve curve,
                                                    std::span<const double> coordinates, int dim,
                                                    int n_threads);

}  // namespace op2::plan
