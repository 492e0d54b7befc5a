// SPDX-License-Identifier: BSD-3-Clause
#include "exec/products.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <random>
#include <vector>

#include "base/error.hpp"

namespace op2::exec {
namespace {

/// Three rows, the second one empty: (0 2 1) (0 0 0) (3 0 4).
struct SmallMatrix {
  std::vector<std::int64_t> offset{0, 2, 2, 4};
  std::vector<std::int32_t> columns{1, 2, 0, 2};

  template <class T>
  [[nodiscard]] BlockTable table(DType dtype, const std::vector<T>& values, int rows = 1,
                                 int columns_of_block = 1) const {
    return {dtype,        rows, columns_of_block, offset, std::span<const std::int32_t>(columns),
            values.data()};
  }
};

template <class T>
void expect_small_product(DType dtype) {
  const SmallMatrix small;
  const std::vector<T> values{T(2), T(1), T(3), T(4)};
  const std::vector<T> x{T(1), T(10), T(100)};
  std::vector<T> y(3, T(7));
  multiply(small.table(dtype, values), x.data(), y.data(), false, 2);
  EXPECT_EQ(y, (std::vector<T>{T(120), T(0), T(403)})) << name_of(dtype);
  multiply(small.table(dtype, values), x.data(), y.data(), true, 2);
  EXPECT_EQ(y, (std::vector<T>{T(240), T(0), T(806)})) << name_of(dtype);
}

TEST(Products, RowsAreSummedInAllDtypes) {
  expect_small_product<float>(DType::float32);
  expect_small_product<double>(DType::float64);
  expect_small_product<std::complex<float>>(DType::complex64);
  expect_small_product<std::complex<double>>(DType::complex128);
  expect_small_product<std::int64_t>(DType::int64);
}

TEST(Products, BlocksNeedNotBeSquare) {
  const SmallMatrix small;
  // blocks of 1 x 2: row 0 is (1 2 at column 1, 3 4 at column 2), row 2 is (5 6 at 0, 7 8 at 2)
  const std::vector<double> values{1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<double> x{1, 0, 10, 100, 0.5, 0.25};
  std::vector<double> y(3);
  multiply(small.table(DType::float64, values, 1, 2), x.data(), y.data(), false, 1);
  EXPECT_EQ(y, (std::vector<double>{10 + 200 + 1.5 + 1, 0, 5 + 3.5 + 2}));
  // and of 2 x 1
  const std::vector<double> narrow{1, 2, 3};
  std::vector<double> tall(6);
  multiply(small.table(DType::float64, values, 2, 1), narrow.data(), tall.data(), false, 1);
  EXPECT_EQ(tall, (std::vector<double>{2 + 9, 4 + 12, 0, 0, 5 + 21, 6 + 24}));
}

TEST(Products, ComplexNumbersAreMultiplied) {
  using Number = std::complex<double>;
  const SmallMatrix small;
  const std::vector<Number> values{{0, 2}, {1, 1}, {3, 0}, {0, -4}};
  const std::vector<Number> x{{1, 0}, {0, 1}, {2, -1}};
  std::vector<Number> y(3);
  multiply(small.table(DType::complex128, values), x.data(), y.data(), false, 1);
  EXPECT_EQ(y[0], Number(-2 + 3, 0 + 1));
  EXPECT_EQ(y[2], Number(3 - 4, -8));
}

TEST(Products, BitsDoNotDependOnThreadsNorOnTheWidthOfColumns) {
  constexpr std::int64_t n = 40000;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<std::int64_t> offset{0};
  std::vector<std::int32_t> columns;
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t k = 0; k < row % 9; ++k) {
      columns.push_back(static_cast<std::int32_t>((row * 7 + k * k * 31) % n));
    }
    offset.push_back(static_cast<std::int64_t>(columns.size()));
  }
  const std::vector<std::int64_t> wide(columns.begin(), columns.end());
  std::vector<double> values(columns.size());
  std::vector<double> x(n);
  for (double& one : values) one = number(random);
  for (double& one : x) one = number(random);
  BlockTable table{DType::float64, 1, 1, offset, std::span<const std::int32_t>(columns),
                   values.data()};
  std::vector<double> first(n);
  multiply(table, x.data(), first.data(), false, 1);
  for (const int n_threads : {2, 5}) {
    std::vector<double> again(n, 1.0);
    multiply(table, x.data(), again.data(), false, n_threads);
    EXPECT_EQ(again, first);
  }
  table.columns = std::span<const std::int64_t>(wide);
  std::vector<double> again(n);
  multiply(table, x.data(), again.data(), false, 3);
  EXPECT_EQ(again, first);
}

TEST(Products, SumsOfIntegersWrapAround) {
  const SmallMatrix small;
  const std::vector<std::int64_t> values{INT64_MAX, 2, 0, 0};
  const std::vector<std::int64_t> x{1, 1, 1};
  std::vector<std::int64_t> y(3);
  multiply(small.table(DType::int64, values), x.data(), y.data(), false, 1);
  EXPECT_EQ(y[0], INT64_MIN + 1);
}

TEST(Products, OtherDtypesAndNoRows) {
  const SmallMatrix small;
  const std::vector<std::int8_t> values(4);
  std::vector<std::int8_t> y(3);
  EXPECT_FALSE(is_multiplied(DType::int8));
  EXPECT_TRUE(is_multiplied(DType::complex64));
  EXPECT_THROW(multiply(small.table(DType::int8, values), y.data(), y.data(), false, 1),
               UnsupportedError);
  const BlockTable none{DType::float64, 1, 1, {}, std::span<const std::int32_t>(), nullptr};
  multiply(none, nullptr, nullptr, false, 1);
}

}  // namespace
}  // namespace op2::exec
