// SPDX-License-Identifier: BSD-3-Clause
#include "exec/conjugate_gradients.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "base/error.hpp"

namespace op2::exec {
namespace {

/// A chain of n points, each coupled to its neighbours; each entry times a block of two.
struct Line {
  std::vector<std::int64_t> offset{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  std::int64_t n;

  explicit Line(std::int64_t n_points) : n(n_points) {
    for (std::int64_t row = 0; row < n; ++row) {
      for (std::int64_t column = std::max<std::int64_t>(row - 1, 0); column < std::min(row + 2, n);
           ++column) {
        columns.push_back(static_cast<std::int32_t>(column));
        const double entry = row == column ? 2.5 : -1;
        for (const double factor : {3.0, 1.0, 1.0, 2.0}) values.push_back(entry * factor);
      }
      offset.push_back(static_cast<std::int64_t>(columns.size()));
    }
  }

  [[nodiscard]] BlockRows<std::int32_t> rows() const { return {n, 2, offset, columns, values}; }

  [[nodiscard]] std::vector<double> times(const std::vector<double>& x) const {
    std::vector<double> y(x.size(), 0);
    for (std::int64_t row = 0; row < n; ++row) {
      for (std::int64_t place = offset[row]; place < offset[row + 1]; ++place) {
        for (int i = 0; i < 4; ++i) {
          y[2 * row + i / 2] += values[4 * place + i] * x[2 * columns[place] + i % 2];
        }
      }
    }
    return y;
  }
};

CgOptions options_with(int n_threads) {
  CgOptions options;
  options.rtol = 1e-12;
  options.n_threads = n_threads;
  return options;
}

TEST(ConjugateGradients, SolveTheSameOnAnyNumberOfThreads) {
  const Line line(3000);
  std::vector<double> expected;
  for (int i = 0; i < 6000; ++i) expected.push_back(std::sin(0.01 * i));
  const std::vector<double> b = line.times(expected);
  std::vector<double> first;
  std::vector<double> first_history;
  for (const int n_threads : {1, 2, 5}) {
    std::vector<double> x(6000, 0);
    const CgResult found = conjugate_gradients(line.rows(), b, x, options_with(n_threads));
    ASSERT_EQ(found.end, CgEnd::converged);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], expected[i], 1e-5);
    if (first.empty()) {
      first = x;
      first_history = found.history;
    }
    EXPECT_EQ(x, first);
    EXPECT_EQ(found.history, first_history);
  }
}

TEST(ConjugateGradients, StopForEachOfTheReasons) {
  const Line line(50);
  const std::vector<double> b(100, 1);
  std::vector<double> x(100, 0);
  CgOptions few = options_with(1);
  few.max_it = 3;
  const CgResult stopped = conjugate_gradients(line.rows(), b, x, few);
  EXPECT_EQ(stopped.end, CgEnd::max_it);
  EXPECT_EQ(stopped.history.size(), 4U);
  ASSERT_EQ(conjugate_gradients(line.rows(), b, x, options_with(1)).end, CgEnd::converged);
  CgOptions loose = options_with(1);
  loose.rtol = 1e-8;
  EXPECT_EQ(conjugate_gradients(line.rows(), b, x, loose).history.size(), 1U);
  Line zero(50);
  std::ranges::fill(zero.values, 0);
  std::vector<double> none(100, 0);
  EXPECT_EQ(conjugate_gradients(zero.rows(), b, none, options_with(1)).end, CgEnd::not_a_number);
}

TEST(ConjugateGradients, EndWhereTheCallerThrows) {
  const Line line(4000);
  const std::vector<double> b(8000, 1);
  std::vector<double> x(8000, 0);
  CgOptions options = options_with(3);
  options.between = [] { throw std::runtime_error("stop"); };
  EXPECT_THROW((void)conjugate_gradients(line.rows(), b, x, options), std::runtime_error);
}

TEST(ConjugateGradients, RefuseWhatDoesNotFit) {
  Line line(4);
  const std::vector<double> b(8, 1);
  std::vector<double> x(8, 0);
  std::vector<double> few(7, 0);
  EXPECT_THROW((void)conjugate_gradients(line.rows(), b, few, options_with(1)), UsageError);
  line.columns[0] = 4;
  EXPECT_THROW((void)conjugate_gradients(line.rows(), b, x, options_with(1)), UsageError);
}

}  // namespace
}  // namespace op2::exec
