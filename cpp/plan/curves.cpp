// SPDX-License-Identifier: BSD-3-Clause
#include "plan/curves.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "base/error.hpp"
#include "base/parallel.hpp"

namespace op2::plan {
namespace {

constexpr int max_dim = 3;
using Cell = std::array<std::uint32_t, max_dim>;

/// Corner and side of the cube around all points.
struct Cube {
  std::array<double, max_dim> low{};
  double side = 0.0;
};

struct Box {
  std::array<double, max_dim> low;
  std::array<double, max_dim> high;

  Box() {
    low.fill(std::numeric_limits<double>::infinity());
    high.fill(-std::numeric_limits<double>::infinity());
  }
};

[[noreturn]] void fail_coordinate(std::int64_t point, std::size_t axis, double value) {
  throw UsageError(
      fmt::format("space-filling curve: coordinate {} of point {} is {}, expected a finite number",
                  axis, point, value));
}

Box box_of(std::span<const double> coordinates, std::size_t dim, std::int64_t begin,
           std::int64_t end) {
  Box box;
  for (std::int64_t point = begin; point < end; ++point) {
    for (std::size_t axis = 0; axis < dim; ++axis) {
      const double value = coordinates[static_cast<std::size_t>(point) * dim + axis];
      if (!std::isfinite(value)) fail_coordinate(point, axis, value);
      box.low[axis] = std::min(box.low[axis], value);
      box.high[axis] = std::max(box.high[axis], value);
    }
  }
  return box;
}

Cube cube_of(std::span<const double> coordinates, std::size_t dim, std::int64_t n, int n_threads) {
  std::vector<Box> boxes(static_cast<std::size_t>(std::max(n_threads, 1)));
  parallel_for(n_threads, n,
               [coordinates, dim, &boxes](std::int64_t begin, std::int64_t end, int chunk) {
                 boxes[static_cast<std::size_t>(chunk)] = box_of(coordinates, dim, begin, end);
               });
  Box all;
  Cube cube;
  for (std::size_t axis = 0; axis < dim; ++axis) {
    for (const Box& box : boxes) {
      all.low[axis] = std::min(all.low[axis], box.low[axis]);
      all.high[axis] = std::max(all.high[axis], box.high[axis]);
    }
    cube.low[axis] = all.low[axis];
    cube.side = std::max(cube.side, all.high[axis] - all.low[axis]);
  }
  return cube;
}

/// From a grid cell to the transposed Hilbert index: J. Skilling, "Programming the Hilbert curve",
/// AIP Conference Proceedings 707 (2004), 381-387.
void to_hilbert(Cell& cell, std::size_t dim, int n_bits) {
  const std::uint32_t highest = std::uint32_t{1} << (n_bits - 1);
  for (std::uint32_t bit = highest; bit > 1; bit >>= 1) {
    const std::uint32_t below = bit - 1;
    for (std::size_t axis = 0; axis < dim; ++axis) {
      if ((cell[axis] & bit) != 0) {
        cell[0] ^= below;
      } else {
        const std::uint32_t change = (cell[0] ^ cell[axis]) & below;
        cell[0] ^= change;
        cell[axis] ^= change;
      }
    }
  }
  for (std::size_t axis = 1; axis < dim; ++axis) cell[axis] ^= cell[axis - 1];
  std::uint32_t flips = 0;
  for (std::uint32_t bit = highest; bit > 1; bit >>= 1) {
    if ((cell[dim - 1] & bit) != 0) flips ^= bit - 1;
  }
  for (std::size_t axis = 0; axis < dim; ++axis) cell[axis] ^= flips;
}

/// The bits of all axes, most significant first.
std::uint64_t interleave(const Cell& cell, std::size_t dim, int n_bits) {
  std::uint64_t key = 0;
  for (int bit = n_bits - 1; bit >= 0; --bit) {
    for (std::size_t axis = 0; axis < dim; ++axis) key = key << 1 | (cell[axis] >> bit & 1);
  }
  return key;
}

}  // namespace

std::vector<std::uint64_t> curve_keys(Curve curve, std::span<const double> coordinates, int dim,
                                      int n_threads) {
  if (dim < 1 || dim > max_dim) {
    throw UsageError(
        fmt::format("space-filling curve: {} coordinates a point, expected 1 to {}", dim, max_dim));
  }
  const auto width = static_cast<std::size_t>(dim);
  const auto n = static_cast<std::int64_t>(coordinates.size() / width);
  const Cube cube = cube_of(coordinates, width, n, n_threads);
  const int n_bits = std::min(31, 63 / dim);
  const double last_cell = std::ldexp(1.0, n_bits) - 1.0;
  const double scale = cube.side > 0.0 ? last_cell / cube.side : 0.0;
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(n));
  const auto fill = [curve, coordinates, width, n_bits, last_cell, scale, &cube, &keys](
                        std::int64_t begin, std::int64_t end, int) {
    for (auto point = static_cast<std::size_t>(begin); point < static_cast<std::size_t>(end);
         ++point) {
      Cell cell{};
      for (std::size_t axis = 0; axis < width; ++axis) {
        const double place = (coordinates[point * width + axis] - cube.low[axis]) * scale;
        cell[axis] = static_cast<std::uint32_t>(std::min(place, last_cell));
      }
      if (curve == Curve::hilbert) to_hilbert(cell, width, n_bits);
      keys[point] = interleave(cell, width, n_bits);
    }
  };
  parallel_for(n_threads, n, fill);
  return keys;
}

}  // namespace op2::plan
