// SPDX-License-Identifier: BSD-3-Clause
#include "plan/curves.hpp"

#include <fmt/format.h>

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
using GridCell = std::array<std::uint32_t, max_dim>;

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

Box whole_box(std::span<const double> coordinates, std::size_t dim, std::int64_t n, int n_threads) {
  std::vector<Box> boxes(static_cast<std::size_t>(std::max(n_threads, 1)));
  parallel_for(n_threads, n,
               [coordinates, dim, &boxes](std::int64_t begin, std::int64_t end, int chunk) {
                 boxes[static_cast<std::size_t>(chunk)] = box_of(coordinates, dim, begin, end);
               });
  Box all;
  for (std::size_t axis = 0; axis < dim; ++axis) {
    for (const Box& box : boxes) {
      all.low[axis] = std::min(all.low[axis], box.low[axis]);
      all.high[axis] = std::max(all.high[axis], box.high[axis]);
    }
  }
  return all;
}

Cube cube_of(const Box& box, std::size_t dim) {
  Cube cube;
  for (std::size_t axis = 0; axis < dim; ++axis) {
    cube.low[axis] = box.low[axis];
    cube.side = std::max(cube.side, box.high[axis] - box.low[axis]);
  }
  return cube;
}

/// How the points are cut into lines.
struct Lines {
  std::array<std::size_t, max_dim> axes{};  // the longest last: points of a line differ in it
  std::array<double, max_dim> scale{};      // cells a unit of length
};

/// Lines are so far apart that points would be if they were spread evenly; along a line points are
/// told apart as far as @p last_cell goes.
Lines lines_of(const Box& box, std::size_t dim, std::int64_t n, double last_cell) {
  const auto extent = [&box](std::size_t axis) { return box.high[axis] - box.low[axis]; };
  Lines lines;
  for (std::size_t axis = 0; axis < dim; ++axis) lines.axes[axis] = axis;
  std::stable_sort(lines.axes.begin(), lines.axes.begin() + static_cast<std::ptrdiff_t>(dim),
                   [&](std::size_t a, std::size_t b) { return extent(a) < extent(b); });
  double volume = 1.0;
  int n_long = 0;
  for (std::size_t axis = 0; axis < dim; ++axis) {
    if (extent(axis) <= 0.0) continue;
    volume *= extent(axis);
    ++n_long;
  }
  if (n_long == 0) return lines;
  const double spacing = std::pow(volume / static_cast<double>(n), 1.0 / n_long);
  for (std::size_t axis = 0; axis < dim; ++axis) lines.scale[axis] = 1.0 / spacing;
  const std::size_t along = lines.axes[dim - 1];
  lines.scale[along] = last_cell / extent(along);
  return lines;
}

/// From a grid cell to the transposed Hilbert index: J. Skilling, "Programming the Hilbert curve",
/// AIP Conference Proceedings 707 (2004), 381-387.
void to_hilbert(GridCell& cell, std::size_t dim, int n_bits) {
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

/// The cells of all axes one after the other: which line, then where on it.
std::uint64_t concatenate(const GridCell& cell, const Lines& lines, std::size_t dim, int n_bits) {
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < dim; ++i) key = key << n_bits | cell[lines.axes[i]];
  return key;
}

/// The bits of all axes, most significant first.
std::uint64_t interleave_bits(const GridCell& cell, std::size_t dim, int n_bits) {
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
  const Box box = whole_box(coordinates, width, n, n_threads);
  const Cube cube = cube_of(box, width);
  const int n_bits = std::min(31, 63 / dim);
  const double last_cell = std::ldexp(1.0, n_bits) - 1.0;
  const double scale = cube.side > 0.0 ? last_cell / cube.side : 0.0;
  Lines lines;
  lines.scale.fill(scale);
  if (curve == Curve::lines && n > 0) lines = lines_of(box, width, n, last_cell);
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(n));
  const auto fill = [curve, coordinates, width, n_bits, last_cell, &lines, &cube, &keys](
                        std::int64_t begin, std::int64_t end, int) {
    for (auto point = static_cast<std::size_t>(begin); point < static_cast<std::size_t>(end);
         ++point) {
      GridCell cell{};
      for (std::size_t axis = 0; axis < width; ++axis) {
        const double place =
            (coordinates[point * width + axis] - cube.low[axis]) * lines.scale[axis];
        cell[axis] = static_cast<std::uint32_t>(std::min(place, last_cell));
      }
      if (curve == Curve::hilbert) to_hilbert(cell, width, n_bits);
      keys[point] = curve == Curve::lines ? concatenate(cell, lines, width, n_bits)
                                          : interleave_bits(cell, width, n_bits);
    }
  };
  parallel_for(n_threads, n, fill);
  return keys;
}

}  // namespace op2::plan
