// SPDX-License-Identifier: BSD-3-Clause
#include "base/convert.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <limits>

namespace op2 {
namespace {

template <class To, class From>
void expect_nearest() {
  using Limits = std::numeric_limits<To>;
  constexpr From huge = std::numeric_limits<From>::max();
  constexpr From infinite = std::numeric_limits<From>::infinity();
  EXPECT_EQ(converted<To>(huge), Limits::max());
  EXPECT_EQ(converted<To>(infinite), Limits::max());
  EXPECT_EQ(converted<To>(-huge), Limits::min());
  EXPECT_EQ(converted<To>(-infinite), Limits::min());
  EXPECT_EQ(converted<To>(std::numeric_limits<From>::quiet_NaN()), To{0});
  EXPECT_EQ(converted<To>(From{2.75}), To{2});
  EXPECT_EQ(converted<To>(static_cast<From>(Limits::min())), Limits::min());
}

TEST(Convert, RealNumbersBeyondTheRangeBecomeTheNearestInteger) {
  expect_nearest<std::int8_t, float>();
  expect_nearest<std::uint8_t, double>();
  expect_nearest<std::int16_t, double>();
  expect_nearest<std::int32_t, float>();
  expect_nearest<std::uint32_t, double>();
  expect_nearest<std::int64_t, double>();
  expect_nearest<std::uint64_t, float>();
}

TEST(Convert, TheEndsOfTheRangeAreExact) {
  EXPECT_EQ(converted<std::int32_t>(2147483647.0), 2147483647);
  EXPECT_EQ(converted<std::int32_t>(2147483648.0), 2147483647);
  EXPECT_EQ(converted<std::int64_t>(9223372036854774784.0), 9223372036854774784);
  EXPECT_EQ(converted<std::int64_t>(9223372036854775808.0), 9223372036854775807);
  EXPECT_EQ(converted<std::uint8_t>(-0.5), 0);
  EXPECT_EQ(converted<std::int8_t>(127.9), 127);
}

TEST(Convert, OtherTypesAreCast) {
  EXPECT_EQ(converted<std::uint8_t>(std::int64_t{300}), 44);
  EXPECT_EQ(converted<float>(0.1), 0.1F);
  EXPECT_EQ(converted<std::complex<double>>(std::complex<float>(1, 2)), std::complex<double>(1, 2));
}

}  // namespace
}  // namespace op2
