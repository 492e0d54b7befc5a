// SPDX-License-Identifier: BSD-3-Clause
#include "base/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <sstream>

#include "base/convert.hpp"

namespace op2 {
namespace {

template <class T>
T of_bits(std::uint16_t bits) {
  T half;
  std::memcpy(static_cast<void*>(&half), &bits, sizeof half);
  return half;
}

template <class T>
std::uint16_t bits_of(T half) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, &half, sizeof bits);
  return bits;
}

template <class T>
void expect_all_come_back() {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const T half = of_bits<T>(static_cast<std::uint16_t>(bits));
    const auto wide = static_cast<double>(half);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(T(wide))));
    } else {
      EXPECT_EQ(bits_of(T(wide)), bits);
      EXPECT_EQ(bits_of(T(static_cast<float>(half))), bits);
    }
  }
}

TEST(Half, EveryNumberComesBack) {
  expect_all_come_back<Float16>();
  expect_all_come_back<Bfloat16>();
}

/// Between neighbours the nearest is taken, and the even one in the middle.
template <class T>
void expect_nearest_half(std::uint16_t infinity) {
  for (std::uint16_t bits = 0; bits + 1 < infinity; ++bits) {
    const auto next = static_cast<std::uint16_t>(bits + 1);
    const auto low = static_cast<double>(of_bits<T>(bits));
    const double middle = (low + static_cast<double>(of_bits<T>(next))) / 2;
    EXPECT_EQ(bits_of(T(middle)), bits % 2 == 0 ? bits : next);
    EXPECT_EQ(bits_of(T(std::nextafter(middle, 0.0))), bits);
    EXPECT_EQ(bits_of(T(std::nextafter(middle, 1e300))), next);  // lost on the way by a float
    EXPECT_EQ(bits_of(T(-middle)), 0x8000 | (bits % 2 == 0 ? bits : next));
  }
}

TEST(Half, DoublesAreRoundedOnce) {
  expect_nearest_half<Float16>(0x7c00);
  expect_nearest_half<Bfloat16>(0x7f80);
}

TEST(Half, NumbersBeyondTheRangeAreInfinite) {
  EXPECT_EQ(bits_of(Float16(65519.99)), 0x7bff);
  EXPECT_EQ(bits_of(Float16(65520.0)), 0x7c00);
  EXPECT_EQ(bits_of(Float16(-1e300)), 0xfc00);
  EXPECT_EQ(bits_of(Bfloat16(3.39e38)), 0x7f7f);
  EXPECT_EQ(bits_of(Bfloat16(3.4e38)), 0x7f80);
  EXPECT_EQ(bits_of(Float16(std::numeric_limits<double>::quiet_NaN())), 0x7e00);
  EXPECT_EQ(bits_of(Bfloat16(-std::numeric_limits<double>::infinity())), 0xff80);
}

TEST(Half, ValuesPrintAsNumbers) {
  std::ostringstream text;
  text << Float16(-0.25) << ' ' << Bfloat16(2.5);
  EXPECT_EQ(text.str(), "-0.25 2.5");
}

TEST(Half, ConversionsSayWhatFits) {
  EXPECT_TRUE(fits<Float16>(65519.0));
  EXPECT_FALSE(fits<Float16>(65520.0));
  EXPECT_FALSE(fits<Float16>(65520));
  EXPECT_TRUE(fits<Float16>(std::numeric_limits<float>::infinity()));
  EXPECT_TRUE(fits<Bfloat16>(std::int64_t{1} << 62));
  EXPECT_TRUE(fits_exactly<Float16>(2048));
  EXPECT_FALSE(fits_exactly<Float16>(2049));
  EXPECT_FALSE(fits_exactly<Bfloat16>((std::int64_t{1} << 60) + 1));
  EXPECT_FALSE(fits<std::int8_t>(Float16(200.0)));
  EXPECT_TRUE(fits_exactly<float>(Bfloat16(0.3)));
  EXPECT_EQ(converted<int>(Float16(-2.75)), -2);
  EXPECT_EQ(converted<int>(Float16(std::numeric_limits<double>::quiet_NaN())), 0);
  EXPECT_EQ(bits_of(converted<Bfloat16>(converted<Float16>(1.5))), 0x3fc0);
}

}  // namespace
}  // namespace op2
