// SPDX-License-Identifier: BSD-3-Clause
#include "exec/exact_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace op2::exec {
namespace {

double exact_sum_of(const std::vector<double>& values) {
  ExactSum sum;
  sum.add(values);
  return ExactSum::rounded(sum.parts());
}

TEST(ExactSum, IsTheNearestDouble) {
  const double huge = std::numeric_limits<double>::max();
  const double least = std::numeric_limits<double>::denorm_min();
  const double small = std::numeric_limits<double>::min();
  EXPECT_EQ(exact_sum_of({}), 0.0);
  EXPECT_EQ(exact_sum_of({1e100, 1.0, -1e100}), 1.0);
  EXPECT_EQ(exact_sum_of({huge, huge, -huge}), huge);
  EXPECT_EQ(exact_sum_of({huge, huge}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(exact_sum_of({-huge, -huge}), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(exact_sum_of({least, least, -least}), least);
  EXPECT_EQ(exact_sum_of({small, -least}), small - least);
  EXPECT_EQ(exact_sum_of({-1.0, least}), -1.0);
  EXPECT_EQ(exact_sum_of({1.0, std::ldexp(1.0, -53)}), 1.0);  // a tie, to even
  EXPECT_EQ(exact_sum_of({1.0, std::ldexp(1.0, -53), least}), 1.0 + std::ldexp(1.0, -52));
  EXPECT_EQ(exact_sum_of({1.0, std::ldexp(3.0, -53)}), 1.0 + std::ldexp(1.0, -51));
  EXPECT_EQ(exact_sum_of({0.1, 0.2, 0.3, -0.1, -0.2, -0.3}), 0.0);
}

TEST(ExactSum, ValuesAloneStayAsTheyAre) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<int> exponents(-1074, 1023);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 20000; ++i) {
    const double value = std::ldexp(normal(random), exponents(random));
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(exact_sum_of({value}), value);
    EXPECT_EQ(exact_sum_of({value, 1e300, 3.0, -1e300, -3.0}), value);
  }
}

TEST(ExactSum, OrdersAndPartsMakeNoDifference) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> exponents(-40, 40);
  std::vector<double> values(3000);
  for (double& value : values) value = std::ldexp(normal(random), exponents(random));
  const double whole = exact_sum_of(values);
  for (int trial = 0; trial < 20; ++trial) {
    std::shuffle(values.begin(), values.end(), random);
    const auto n = static_cast<std::size_t>(random() % values.size());
    ExactSum first;
    ExactSum second;
    first.add(std::span(values).first(n));
    second.add(std::span(values).subspan(n));
    ExactSum::Parts parts = first.parts();
    const ExactSum::Parts others = second.parts();
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] += others[i];
    EXPECT_EQ(ExactSum::rounded(parts), whole);
    first.add(second);
    EXPECT_EQ(ExactSum::rounded(first.parts()), whole);
  }
  long double near = 0;
  for (const double value : values) near += value;
  EXPECT_NEAR(whole, static_cast<double>(near), 1e-6);
}

TEST(ExactSum, InfinitiesAndNansAreKept) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(exact_sum_of({1.0, infinity, -5.0}), infinity);
  EXPECT_EQ(exact_sum_of({1.0, -infinity}), -infinity);
  EXPECT_TRUE(std::isnan(exact_sum_of({infinity, -infinity})));
  EXPECT_TRUE(std::isnan(exact_sum_of({1.0, std::nan("")})));
}

TEST(ExactSum, ColumnsAreSummedByAnyNumberOfThreads) {
  std::vector<double> values;
  for (int i = 0; i < 600000; ++i) values.insert(values.end(), {1e16, i * 0.1, -1e16});
  const std::vector<ExactSum> once = column_sums(values, 3, 1);
  const std::vector<ExactSum> thrice = column_sums(values, 3, 3);
  ASSERT_EQ(once.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(once[k].parts(), thrice[k].parts());
  EXPECT_EQ(ExactSum::rounded(once[0].parts()), 6e21);
  EXPECT_TRUE(column_sums({}, 0, 2).empty());
  EXPECT_EQ(column_sums({}, 2, 2).size(), 2U);
}

}  // namespace
}  // namespace op2::exec
