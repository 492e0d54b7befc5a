// SPDX-License-Identifier: BSD-3-Clause
#include "exec/incomplete_lu.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/error.hpp"

namespace op2::exec {
namespace {

/// A chain of points, coupled to their neighbours by blocks of two: its factors need no fill.
struct Chain {
  std::vector<std::int64_t> offset{0, 2, 5, 8, 10};
  std::vector<std::int32_t> columns{0, 1, 0, 1, 2, 1, 2, 3, 2, 3};
  std::vector<double> values;

  Chain() {
    for (std::size_t row = 0; row < 4; ++row) {
      for (std::int64_t place = offset[row]; place < offset[row + 1]; ++place) {
        const double entry = columns[place] == static_cast<std::int32_t>(row) ? 5 : -1;
        for (const double factor : {3.0, 1.0, 1.0, 2.0}) values.push_back(entry * factor);
      }
    }
  }
  [[nodiscard]] BlockRows<std::int32_t> rows() const { return {4, 2, offset, columns, values}; }
};

TEST(IncompleteLu, IsExactWhereNothingFillsIn) {
  const Chain chain;
  const IncompleteLu ilu(chain.rows());
  ASSERT_EQ(ilu.n_rows(), 8U);
  std::vector<double> product(8, 0);
  const auto expected = [](std::size_t i) { return std::cos(0.3 * static_cast<double>(i)); };
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::int64_t place = chain.offset[row]; place < chain.offset[row + 1]; ++place) {
      for (std::size_t k = 0; k < 4; ++k) {
        product[2 * row + k / 2] +=
            chain.values[4 * place + k] *
            expected(2 * static_cast<std::size_t>(chain.columns[place]) + k % 2);
      }
    }
  }
  ilu.solve(product, product);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(product[i], expected(i), 1e-12);
}

TEST(IncompleteLu, KeepsTheSymmetryOfAMatrix) {
  // A square of four points: the diagonal that elimination would fill in is left out.
  const std::vector<std::int64_t> offset{0, 3, 6, 9, 12};
  const std::vector<std::int64_t> columns{0, 1, 2, 0, 1, 3, 0, 2, 3, 1, 2, 3};
  const std::vector<double> values{4, -1, -2, -1, 5, -1, -2, 6, -3, -1, -3, 7};
  const IncompleteLu ilu(BlockRows<std::int64_t>{4, 1, offset, columns, values});
  std::vector<std::vector<double>> inverse;
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<double> unit(4, 0);
    unit[i] = 1;
    ilu.solve(unit, unit);
    inverse.push_back(unit);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(inverse[i][j], inverse[j][i], 1e-15);
  }
}

TEST(IncompleteLu, NamesTheRowWithoutAPivot) {
  Chain chain;
  try {
    const std::vector<std::int64_t> offset{0, 1, 2};
    const std::vector<std::int32_t> columns{0, 0};
    const std::vector<double> values{1, 1};
    const IncompleteLu missing(BlockRows<std::int32_t>{2, 1, offset, columns, values});
    FAIL() << "row 1 has no diagonal entry";
  } catch (const ExecutionError& error) {
    EXPECT_STREQ(error.what(), "row 1 has no place for its diagonal entry");
  }
  for (double& value : chain.values) value = 0;
  EXPECT_THROW(IncompleteLu{chain.rows()}, ExecutionError);
  chain.values[0] = std::nan("");
  EXPECT_THROW(IncompleteLu{chain.rows()}, ExecutionError);
}

}  // namespace
}  // namespace op2::exec
