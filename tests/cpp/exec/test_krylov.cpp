// SPDX-License-Identifier: BSD-3-Clause
#include "exec/krylov.hpp"

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

KrylovOptions options_with(int n_threads, KrylovMethod method = KrylovMethod::cg) {
  KrylovOptions options;
  options.method = method;
  options.rtol = 1e-12;
  options.n_threads = n_threads;
  return options;
}

/// Return the inverses of the blocks on the diagonal.
SparseInverse inverse_of_blocks(const Line& line) {
  const BlockRows<std::int32_t> rows = line.rows();
  std::vector<std::int64_t> offset{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows.n_rows); ++row) {
    for (std::size_t place = rows.begin(row); place < rows.end(row); ++place) {
      if (rows.columns[place] != static_cast<std::int32_t>(row)) continue;
      const double* a = &rows.values[4 * place];
      const double determinant = a[0] * a[3] - a[1] * a[2];
      for (const double entry : {a[3], -a[1], -a[2], a[0]}) values.push_back(entry / determinant);
    }
    for (int i = 0; i < 2; ++i) {
      columns.push_back(static_cast<std::int32_t>(2 * row));
      offset.push_back(static_cast<std::int64_t>(columns.size()));
    }
  }
  return {offset, columns, 2, values};
}

constexpr KrylovMethod methods[] = {KrylovMethod::cg, KrylovMethod::bicgstab, KrylovMethod::gmres};

double residual(const Line& line, const std::vector<double>& b, const std::vector<double>& x) {
  const std::vector<double> product = line.times(x);
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += (b[i] - product[i]) * (b[i] - product[i]);
  return std::sqrt(sum);
}

TEST(Krylov, SolveTheSameOnAnyNumberOfThreads) {
  const Line line(3000);
  const IncompleteLu ilu(line.rows());
  const SparseInverse inverse = inverse_of_blocks(line);
  std::vector<double> expected;
  for (int i = 0; i < 6000; ++i) expected.push_back(std::sin(0.01 * i));
  const std::vector<double> b = line.times(expected);
  for (const KrylovMethod method : methods) {
    for (const int kind : {0, 1, 2, 3}) {
      std::vector<double> first;
      std::vector<double> first_history;
      for (const int n_threads : {1, 2, 5}) {
        std::vector<double> x(6000, 0);
        KrylovOptions options = options_with(n_threads, method);
        options.is_jacobi = kind == 1;
        options.ilu = kind == 2 ? &ilu : nullptr;
        options.inverse = kind == 3 ? &inverse : nullptr;
        const KrylovResult found = solve_krylov(line.rows(), b, x, options);
        ASSERT_EQ(found.end, KrylovEnd::converged);
        for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], expected[i], 1e-5);
        EXPECT_NEAR(found.history.back(), residual(line, b, x), 1e-9);
        if (first.empty()) {
          first = x;
          first_history = found.history;
        }
        EXPECT_EQ(x, first);
        EXPECT_EQ(found.history, first_history);
      }
    }
  }
}

TEST(Krylov, SolveWithAProductInPlaceOfAMatrix) {
  const Line line(3000);
  std::vector<double> expected;
  for (int i = 0; i < 6000; ++i) expected.push_back(std::sin(0.01 * i));
  const std::vector<double> b = line.times(expected);
  const std::vector<std::int64_t> offset(6001, 0);
  const BlockRows<std::int32_t> nothing{6000, 1, offset, {}, {}};
  for (const KrylovMethod method : methods) {
    for (const int n_threads : {1, 3}) {
      std::vector<double> x(6000, 0);
      KrylovOptions options = options_with(n_threads, method);
      options.is_jacobi = false;
      options.product = [&line](std::span<double> v, std::span<double> product) {
        const std::vector<double> found = line.times({v.begin(), v.end()});
        std::copy(found.begin(), found.end(), product.begin());
      };
      ASSERT_EQ(solve_krylov(nothing, b, x, options).end, KrylovEnd::converged);
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], expected[i], 1e-5);
      options.product = [](std::span<double>, std::span<double>) {
        throw std::runtime_error("no product");
      };
      EXPECT_THROW((void)solve_krylov(nothing, b, x, options), std::runtime_error);
    }
  }
}

TEST(Krylov, BringGhostsForAnInverseThatReadsThem) {
  // two rows; another process owns the second row, with the value 5
  const std::vector<std::int64_t> offset{0, 1};
  const std::vector<std::int32_t> columns{0};
  const std::vector<double> values{2};
  const BlockRows<std::int32_t> matrix{1, 1, offset, columns, values, 1};
  const SparseInverse inverse({0, 2}, {0, 1}, 1, std::vector<double>{0.5, 0.0}, 1);
  const std::vector<double> b{8};
  std::vector<double> x(2, 0);
  int n_brought = 0;
  KrylovOptions options = options_with(1);
  options.is_jacobi = false;
  options.inverse = &inverse;
  options.is_inverse_wide = true;
  options.others.bring = [&](std::span<double> vector) {
    ++n_brought;
    vector[1] = 5;
  };
  options.others.add_up = [](std::span<double>) {};
  ASSERT_EQ(solve_krylov(matrix, b, x, options).end, KrylovEnd::converged);
  EXPECT_NEAR(x[0], 4, 1e-12);
  EXPECT_GE(n_brought, 3);  // before each product, and before each use of the inverse
  EXPECT_THROW(SparseInverse({0, 2}, {0, 1}, 1, std::vector<double>{0.5, 0.0}), UsageError);
}

TEST(Krylov, StopForEachOfTheReasons) {
  const Line line(50);
  const std::vector<double> b(100, 1);
  for (const KrylovMethod method : methods) {
    std::vector<double> x(100, 0);
    KrylovOptions few = options_with(1, method);
    few.max_it = 3;
    const KrylovResult stopped = solve_krylov(line.rows(), b, x, few);
    EXPECT_EQ(stopped.end, KrylovEnd::max_it);
    EXPECT_EQ(stopped.history.size(), 4U);
    const KrylovOptions usual = options_with(1, method);
    ASSERT_EQ(solve_krylov(line.rows(), b, x, usual).end, KrylovEnd::converged);
    KrylovOptions loose = usual;
    loose.rtol = 1e-8;
    EXPECT_EQ(solve_krylov(line.rows(), b, x, loose).history.size(), 1U);
    KrylovOptions unreachable = usual;  // rounding is as good as it gets
    unreachable.rtol = 1e-18;
    std::ranges::fill(x, 0);
    EXPECT_EQ(solve_krylov(line.rows(), b, x, unreachable).end, KrylovEnd::converged);
    EXPECT_LT(residual(line, b, x), 1e-12);
  }
  Line zero(50);
  std::ranges::fill(zero.values, 0);
  std::vector<double> none(100, 0);
  EXPECT_EQ(solve_krylov(zero.rows(), b, none, options_with(1)).end, KrylovEnd::indefinite);
  for (const KrylovMethod method : {KrylovMethod::bicgstab, KrylovMethod::gmres}) {
    EXPECT_EQ(solve_krylov(zero.rows(), b, none, options_with(1, method)).end,
              KrylovEnd::breakdown);
  }
}

TEST(Krylov, BeginAnewWhereBicgstabBreaksDown) {
  // The first step leaves nothing in the direction of the first residual.
  const std::vector<std::int64_t> offset{0, 1, 3, 6};
  const std::vector<std::int32_t> columns{0, 0, 1, 0, 1, 2};
  const std::vector<double> values{1, -1, 2, -1, -1, 3};
  const BlockRows<std::int32_t> rows{3, 1, offset, columns, values};
  const std::vector<double> b{1, 0, 0};
  std::vector<double> x(3, 0);
  ASSERT_EQ(solve_krylov(rows, b, x, options_with(1, KrylovMethod::bicgstab)).end,
            KrylovEnd::converged);
  EXPECT_NEAR(x[0], 1, 1e-10);
  EXPECT_NEAR(x[1], 0.5, 1e-10);
  EXPECT_NEAR(x[2], 0.5, 1e-10);
}

TEST(Krylov, EndWhereTheCallerThrows) {
  const Line line(4000);
  const std::vector<double> b(8000, 1);
  for (const KrylovMethod method : methods) {
    std::vector<double> x(8000, 0);
    KrylovOptions options = options_with(3, method);
    options.rtol = 1e-15;
    options.between = [] { throw std::runtime_error("stop"); };
    EXPECT_THROW((void)solve_krylov(line.rows(), b, x, options), std::runtime_error);
  }
}

TEST(Krylov, RefuseWhatDoesNotFit) {
  Line line(4);
  const std::vector<double> b(8, 1);
  std::vector<double> x(8, 0);
  std::vector<double> few(7, 0);
  const IncompleteLu other(Line(3).rows());
  KrylovOptions wrong = options_with(1);
  wrong.ilu = &other;
  EXPECT_THROW((void)solve_krylov(line.rows(), b, few, options_with(1)), UsageError);
  EXPECT_THROW((void)solve_krylov(line.rows(), b, x, wrong), UsageError);
  line.columns[0] = 4;
  EXPECT_THROW((void)solve_krylov(line.rows(), b, x, options_with(1)), UsageError);
}

}  // namespace
}  // namespace op2::exec
