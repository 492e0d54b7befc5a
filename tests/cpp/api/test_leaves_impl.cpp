// SPDX-License-Identifier: BSD-3-Clause
#include "api/leaves_impl.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace op2::leaves::implementation {
namespace {

TEST(LeavesImpl, SumsOfPiecesLoseLittle) {
  for (const std::size_t n : {std::size_t{0}, piece - 1, piece, piece + 1, 1000 * piece + 7}) {
    const std::vector<double> x(n, 0.1);
    const auto count = static_cast<double>(n);
    EXPECT_NEAR(inner<double>(x, x.data()), 0.01 * count, 1e-13 * count) << n;
  }
}

TEST(LeavesImpl, TheSecondFactorIsConjugated) {
  const std::complex<float> a(1, 2);
  const std::complex<float> b(3, -1);
  EXPECT_EQ(product(a, b), std::complex<double>(1, 7));
  EXPECT_EQ(product(std::int8_t{100}, std::int8_t{100}), 10'000);
}

TEST(LeavesImpl, SmallIntegersWrapWhereTheyAreSummedInPlace) {
  const std::vector<std::int8_t> from{100, 100, 1};
  std::vector<std::int8_t> to(3);
  scan<std::int8_t>(from, 1, to.data(), Access::inc, false);
  EXPECT_EQ(to, (std::vector<std::int8_t>{0, 100, -56}));
}

TEST(LeavesImpl, NoRowsAreNothing) {
  const std::vector<double> values{1.0};
  std::vector<double> to{7.0};
  gather<double, int>(values.data(), {}, 1, to.data());
  convert<double, double>({}, to.data(), Casting::fitting);
  scan<double>({}, 1, to.data(), Access::max, true);
  EXPECT_EQ(to, std::vector{7.0});
  EXPECT_EQ(inner<double>({}, values.data()), 0.0);
  gather<double, int>(values.data(), {}, 1, nullptr);  // which has no place for a row
  convert<float, double>({}, nullptr, Casting::fitting);
}

}  // namespace
}  // namespace op2::leaves::implementation
