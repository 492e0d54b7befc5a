// SPDX-License-Identifier: BSD-3-Clause
#include "plan/curves.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <set>

#include "base/error.hpp"

namespace op2::plan {
namespace {

/// All points of a grid of side 2^k, one a cell of the curve's grid.
std::vector<double> grid(int dim, int side) {
  std::vector<double> coordinates;
  const int n = static_cast<int>(std::pow(side, dim));
  for (int point = 0; point < n; ++point) {
    for (int axis = 0, rest = point; axis < dim; ++axis, rest /= side) {
      coordinates.push_back(static_cast<double>(rest % side));
    }
  }
  return coordinates;
}

std::vector<std::size_t> along(const std::vector<std::uint64_t>& keys) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&keys](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  return order;
}

TEST(CurveKeys, HilbertStepsToANeighbour) {
  for (const int dim : {1, 2, 3}) {
    const std::vector<double> points = grid(dim, 16);
    const auto keys = curve_keys(Curve::hilbert, points, dim, 1);
    EXPECT_EQ(std::set(keys.begin(), keys.end()).size(), keys.size());
    const auto order = along(keys);
    const auto width = static_cast<std::size_t>(dim);
    for (std::size_t i = 1; i < order.size(); ++i) {
      double distance = 0.0;
      for (std::size_t axis = 0; axis < width; ++axis) {
        distance += std::abs(points[order[i] * width + axis] - points[order[i - 1] * width + axis]);
      }
      ASSERT_EQ(distance, 1.0) << "dim " << dim << ", step " << i;
    }
  }
}

TEST(CurveKeys, LinesFollowTheLongestDirection) {
  // 4 x 3 x 2 points, in the order of lines along the first axis
  std::vector<double> points;
  for (int z = 0; z < 2; ++z) {
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < 4; ++x) {
        points.insert(points.end(), {0.1 * x, 0.1 * y + 0.001 * x, 0.1 * z});
      }
    }
  }
  const auto keys = curve_keys(Curve::lines, points, 3, 1);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  EXPECT_EQ(std::set(keys.begin(), keys.end()).size(), keys.size());
  EXPECT_EQ(curve_keys(Curve::lines, points, 3, 3), keys);
}

TEST(CurveKeys, LinesOfFlatMeshesAndOfOnePoint) {
  const std::vector<double> flat{0, 5, 2, 5, 1, 5};
  const auto keys = curve_keys(Curve::lines, flat, 2, 1);
  EXPECT_EQ(along(keys), (std::vector<std::size_t>{0, 2, 1}));
  EXPECT_EQ(curve_keys(Curve::lines, std::vector<double>{3, 3, 3}, 3, 1),
            (std::vector<std::uint64_t>{0}));
  EXPECT_TRUE(curve_keys(Curve::lines, {}, 3, 1).empty());
}

TEST(CurveKeys, MortonFillsQuadrantAfterQuadrant) {
  const std::vector<double> points{0, 0, 0, 1, 1, 0, 1, 1};
  const auto keys = curve_keys(Curve::morton, points, 2, 1);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  const std::vector<double> square = grid(2, 8);
  const auto order = along(curve_keys(Curve::morton, square, 2, 1));
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_LT(square[2 * order[i]], 4.0);
    EXPECT_LT(square[2 * order[i] + 1], 4.0);
  }
}

TEST(CurveKeys, KeepTheShapeOfTheMesh) {
  // A strip: the long axis decides, however thin the strip is.
  const std::vector<double> points{0.0, 1e-9, 10.0, 0.0, 20.0, 1e-9, 30.0, 0.0};
  const auto keys = curve_keys(Curve::morton, points, 2, 1);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
}

TEST(CurveKeys, DoNotDependOnThreads) {
  const std::vector<double> points = grid(3, 32);
  for (const Curve curve : {Curve::hilbert, Curve::morton}) {
    EXPECT_EQ(curve_keys(curve, points, 3, 3), curve_keys(curve, points, 3, 1));
  }
}

TEST(CurveKeys, OfOnePlaceAndOfNothing) {
  EXPECT_EQ(curve_keys(Curve::morton, std::vector<double>{2.0, 3.0, 2.0, 3.0}, 2, 1),
            (std::vector<std::uint64_t>{0, 0}));
  EXPECT_TRUE(curve_keys(Curve::hilbert, std::vector<double>{}, 2, 1).empty());
}

TEST(CurveKeys, RefuseBadCoordinates) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)curve_keys(Curve::hilbert, std::vector<double>{0.0, nan}, 2, 1), UsageError);
  EXPECT_THROW((void)curve_keys(Curve::hilbert, std::vector<double>{0.0}, 0, 1), UsageError);
  EXPECT_THROW((void)curve_keys(Curve::hilbert, std::vector<double>{0, 0, 0, 0}, 4, 1), UsageError);
}

}  // namespace
}  // namespace op2::plan
