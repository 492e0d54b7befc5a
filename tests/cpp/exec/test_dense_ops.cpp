// SPDX-License-Identifier: BSD-3-Clause
#include "exec/dense_ops.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "base/error.hpp"

namespace op2::exec {
namespace {

using Complex = std::complex<double>;

template <class T>
DType dtype_of(const T& /*sample*/) {
  if constexpr (std::is_same_v<T, std::int8_t>) return DType::int8;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::int32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::int64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return DType::uint64;
  if constexpr (std::is_same_v<T, float>) return DType::float32;
  if constexpr (std::is_same_v<T, double>) return DType::float64;
  if constexpr (std::is_same_v<T, Complex>) return DType::complex128;
}

template <class T>
Column column(std::vector<T>& values, std::int64_t stride = 1) {
  const auto n = static_cast<std::int64_t>(values.size());
  return {dtype_of(T{}), values.data(), stride == 0 ? 1 : n / stride, stride};
}

TEST(Combine, KnowsFourOperations) {
  std::vector<double> left{6, 8};
  std::vector<double> right{3, 2};
  std::vector<double> out(2);
  const std::vector<std::vector<double>> expected{{9, 10}, {3, 6}, {18, 16}, {2, 4}};
  for (const char* op : {"+", "-", "*", "/"}) {
    const Elementwise operation = elementwise_from(op);
    combine(operation, column(out), column(left), column(right), 1);
    EXPECT_EQ(out, expected[static_cast<std::size_t>(operation)]) << op;
  }
  EXPECT_THROW((void)elementwise_from("%"), UsageError);
}

TEST(Combine, WorksOnManyValuesWithThreads) {
  std::vector<double> left(300001);
  std::iota(left.begin(), left.end(), 0.0);
  std::vector<double> right = left;
  combine(Elementwise::add, column(left), column(left), column(right), 3);
  for (std::size_t i = 0; i < left.size(); i += 997) EXPECT_EQ(left[i], 2 * right[i]);
  EXPECT_EQ(left.back(), 2 * right.back());
}

TEST(Combine, ComputesInTheCommonTypeAndConverts) {
  std::vector<std::int32_t> left{7, -7};
  std::vector<double> right{0.5, 0.5};
  combine(Elementwise::multiply, column(left), column(left), column(right), 1);
  EXPECT_EQ(left, (std::vector<std::int32_t>{3, -3}));
}

TEST(Combine, TruncatesIntegers) {
  std::vector<std::int64_t> left{7, -7, std::numeric_limits<std::int64_t>::min()};
  std::vector<std::int32_t> right{2, 2, -1};
  combine(Elementwise::divide, column(left), column(left), column(right), 1);
  EXPECT_EQ(left, (std::vector<std::int64_t>{3, -3, std::numeric_limits<std::int64_t>::min()}));
}

TEST(Combine, RefusesToDivideIntegersByZeroBeforeAnythingIsWritten) {
  std::vector<std::int32_t> left{4, 4};
  std::vector<std::int32_t> right{2, 0};
  EXPECT_THROW(combine(Elementwise::divide, column(left), column(left), column(right), 1),
               UsageError);
  EXPECT_EQ(left, (std::vector<std::int32_t>{4, 4}));
}

TEST(Combine, ReadsComponentsAndSingleValues) {
  std::vector<double> rows{1, 2, 3, 4, 5, 6};
  std::vector<double> three{3};
  Column second{DType::float64, rows.data() + 1, 3, 2};
  combine(Elementwise::add, second, second, column(three, 0), 1);
  EXPECT_EQ(rows, (std::vector<double>{1, 5, 3, 7, 5, 9}));
}

TEST(Combine, MultipliesAndDividesComplexValues) {
  std::vector<Complex> left{{1, 2}};
  std::vector<Complex> right{{3, -1}};
  std::vector<Complex> out(1);
  combine(Elementwise::multiply, column(out), column(left), column(right), 1);
  EXPECT_EQ(out[0], Complex(5, 5));
  combine(Elementwise::divide, column(out), column(out), column(right), 1);
  EXPECT_NEAR(std::abs(out[0] - left[0]), 0, 1e-15);
}

TEST(Combine, RefusesColumnsOfOtherLengths) {
  std::vector<double> two(2);
  std::vector<double> three(3);
  EXPECT_THROW(combine(Elementwise::add, column(two), column(two), column(three), 1), UsageError);
}

TEST(Axpy, AddsAMultiple) {
  std::vector<double> alpha{2};
  std::vector<float> x{1, 2, 3};
  std::vector<double> y{10, 20, 30};
  axpy(column(alpha, 0), column(x), column(y), 2);
  EXPECT_EQ(y, (std::vector<double>{12, 24, 36}));
}

TEST(Axpy, AddsToItself) {
  std::vector<double> alpha{-1};
  std::vector<double> x{1, 2};
  axpy(column(alpha, 0), column(x), column(x), 1);
  EXPECT_EQ(x, (std::vector<double>{0, 0}));
}

TEST(Dot, ConjugatesTheSecond) {
  std::vector<Complex> x{{0, 1}};
  EXPECT_EQ(std::get<Complex>(dot(column(x), column(x), true, 1)), Complex(1, 0));
  EXPECT_EQ(std::get<Complex>(dot(column(x), column(x), false, 1)), Complex(-1, 0));
}

TEST(Dot, KeepsIntegersExact) {
  std::vector<std::int64_t> x{1LL << 40, 3};
  std::vector<std::int8_t> y{-2, 5};
  EXPECT_EQ(std::get<std::int64_t>(dot(column(x), column(y), true, 1)), 15 - (1LL << 41));
}

TEST(Dot, HasTheSameBitsWithAnyThreads) {
  std::vector<double> x(200003);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0 / static_cast<double>(i + 1);
  const double once = std::get<double>(dot(column(x), column(x), true, 1));
  for (const int threads : {2, 3, 7}) {
    EXPECT_EQ(std::get<double>(dot(column(x), column(x), true, threads)), once);
  }
  EXPECT_NEAR(once, 1.6449290668, 1e-9);
}

TEST(Dot, AddsNarrowFloatsInWideOnes) {
  std::vector<float> x(1 << 20, 0.1F);
  const double exact = static_cast<double>(0.1F) * static_cast<double>(0.1F) * (1 << 20);
  EXPECT_NEAR(std::get<double>(dot(column(x), column(x), true, 2)), exact, 1e-6);
}

TEST(Dot, TakesEveryLength) {
  std::vector<std::int64_t> x;
  std::int64_t expected = 0;
  for (std::int64_t n = 1; n < 40; ++n) {
    x.push_back(n);
    expected += n * n;
    std::vector<double> values(x.begin(), x.end());
    EXPECT_EQ(std::get<std::int64_t>(dot(column(x), column(x), false, 1)), expected);
    EXPECT_EQ(std::get<double>(dot(column(values), column(values), false, 1)), expected);
  }
}

TEST(Dot, OfNothingIsZero) {
  std::vector<double> none;
  EXPECT_EQ(std::get<double>(dot(column(none), column(none), true, 2)), 0.0);
}

}  // namespace
}  // namespace op2::exec
