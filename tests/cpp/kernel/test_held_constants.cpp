// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/held_constants.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace op2::kernel {
namespace {

std::optional<Constant> held_real(double value, Base base) {
  return held_as(Real{value}, base);
}
std::optional<Constant> held_whole(std::int64_t value, Base base) {
  return held_as(value, base);
}

TEST(HeldConstants, ZeroHasNoSign) {
  EXPECT_TRUE(is_zero(std::int64_t{0}));
  EXPECT_TRUE(is_zero(Real{0.0}));
  EXPECT_FALSE(is_zero(Real{-0.0}));
  EXPECT_FALSE(is_zero(std::int64_t{1}));
  EXPECT_NE(Real{0.0}, Real{-0.0});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Real{nan}, Real{nan});
  EXPECT_FALSE(is_zero(Real{nan}));
}

TEST(HeldConstants, OfFloatingLiterals) {
  EXPECT_EQ(real_of("1."), 1.0);
  EXPECT_EQ(real_of(".5e1"), 5.0);
  EXPECT_EQ(real_of("1E-3"), 1e-3);
  EXPECT_EQ(real_of("0.1"), 0.1);
  EXPECT_EQ(real_of("0.1f"), static_cast<double>(0.1F));
  EXPECT_EQ(real_of("0x1.8p3"), 12.0);
  EXPECT_EQ(real_of("0xfp0f"), 15.0);
  EXPECT_EQ(real_of("0.25L"), 0.25);
  EXPECT_EQ(real_of("0x1.8p1L"), 3.0);
  EXPECT_EQ(real_of("4.9e-324"), std::numeric_limits<double>::denorm_min());
  for (const char* other : {"1", "0xf", "0x1f", "1u", "1e", "1.0i", "'.'", "'e'", ".", "e", "",
                            "1e400", "1e40f", "0.1L", "1.0ff", "99999999999999999999"}) {
    EXPECT_EQ(real_of(other), std::nullopt) << other;
  }
}

TEST(HeldConstants, IntegersStayThemselvesOrAreNotKnown) {
  EXPECT_EQ(held_whole(-5, Base::int8), Constant(std::int64_t{-5}));
  EXPECT_EQ(held_whole(128, Base::int8), std::nullopt);
  EXPECT_EQ(held_whole(-1, Base::uint32), std::nullopt);
  EXPECT_EQ(held_whole(7, Base::boolean), Constant(std::int64_t{1}));
  EXPECT_EQ(held_whole(7, Base::float32), Constant(Real{7}));
  EXPECT_EQ(held_whole((1 << 24) + 1, Base::float32), std::nullopt);
  EXPECT_EQ(held_whole(1LL << 53, Base::float64), Constant(Real{std::ldexp(1.0, 53)}));
  EXPECT_EQ(held_whole((1LL << 53) + 1, Base::float64), std::nullopt);
  EXPECT_EQ(held_whole(3, Base::complex64), Constant(Real{3}));
  EXPECT_EQ(held_whole(1, Base::unknown), std::nullopt);
  EXPECT_EQ(held_whole(1, Base::structure), std::nullopt);
}

TEST(HeldConstants, IntegersThatATypeKeepsAreHeldByIt) {
  for (const Base base : {Base::boolean, Base::int8, Base::int16, Base::int32, Base::int64,
                          Base::uint8, Base::uint16, Base::uint32, Base::uint64}) {
    for (const std::int64_t value : {-(1LL << 31), -128LL, -127LL, -1LL, 0LL, 1LL, 2LL, 127LL,
                                     128LL, (1LL << 31) - 1, 1LL << 31}) {
      const bool is_kept = held_whole(value, base) == Constant(value);
      EXPECT_EQ(keeps(base, value), is_kept) << name_of(base) << " " << value;
    }
  }
  EXPECT_FALSE(keeps(Base::float64, 1));
}

TEST(HeldConstants, RealNumbersKeepTheirBitsOrAreNotKnown) {
  EXPECT_EQ(held_real(-0.0, Base::float32), Constant(Real{-0.0}));
  EXPECT_EQ(held_real(0.1, Base::float32), std::nullopt);
  EXPECT_EQ(held_real(1e300, Base::float32), std::nullopt);
  EXPECT_EQ(held_real(0.1, Base::complex128), Constant(Real{0.1}));
  EXPECT_EQ(held_real(0.1, Base::complex64), std::nullopt);
  EXPECT_EQ(held_real(-0.0, Base::int32), Constant(std::int64_t{0}));
  EXPECT_EQ(held_real(2.5, Base::int32), std::nullopt);
  EXPECT_EQ(held_real(0.5, Base::boolean), Constant(std::int64_t{1}));
  EXPECT_EQ(held_real(1e300, Base::int64), std::nullopt);
  for (const double odd :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(held_real(odd, Base::int32), std::nullopt);
    EXPECT_EQ(held_real(odd, Base::float32), std::nullopt);
    EXPECT_EQ(held_real(odd, Base::float64), Constant(Real{odd}));
  }
}

}  // namespace
}  // namespace op2::kernel
