// SPDX-License-Identifier: BSD-3-Clause
#include "api/leaves.hpp"

#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "../base/message_of.hpp"
#include "api/leaves_impl.hpp"
#include "api/memory.hpp"
#include "base/error.hpp"

namespace op2 {
namespace {

using testing::message_of;

TEST(Leaves, ConvertAsCastsDo) {
  const std::vector<double> from{1.75, -2.5, 3.0};
  std::array<std::int32_t, 3> to{};
  convert(from, to);
  EXPECT_EQ(to, (std::array<std::int32_t, 3>{1, -2, 3}));
  Array<float> narrow(3);
  convert(std::span<const double>(from), narrow);
  EXPECT_EQ(narrow[1], -2.5F);
}

TEST(Leaves, ConvertIsDefinedForAllNumbers) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> from{1e20, -1e20, nan};
  std::array<std::int32_t, 3> to{};
  convert(from, to, Casting::unsafe);
  EXPECT_EQ(to, (std::array<std::int32_t, 3>{2147483647, -2147483647 - 1, 0}));
}

TEST(Leaves, ValuesThatDoNotFitAreRefusedBeforeAnythingChanges) {
  const std::vector<double> from{1.5, 2.0, 3e10};
  std::array<std::int32_t, 3> to{7, 7, 7};
  EXPECT_EQ(message_of<UsageError>([&] { convert(from, to); }),
            "convert: the value at 2 is beyond the range of the type; nothing was converted. Pass "
            "Casting::unsafe to convert it all the same");
  EXPECT_TRUE(testing::contains(message_of<UsageError>([&] {
                                  convert(std::span(from).first(2), std::span(to).first(2),
                                          Casting::exact);
                                }),
                                "the value at 0 loses digits, or is beyond"));
  EXPECT_EQ(to, (std::array<std::int32_t, 3>{7, 7, 7}));
  convert(std::span(from).first(2), std::span(to).first(2));
  EXPECT_EQ(to, (std::array<std::int32_t, 3>{1, 2, 7}));
}

TEST(Leaves, GatherRows) {
  const std::vector<std::complex<double>> values{{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  const std::vector<std::int64_t> rows{1, 0, 1};
  std::vector<std::complex<double>> to(6);
  gather(values, rows, to, 2);
  EXPECT_EQ(to[0], values[2]);
  EXPECT_EQ(to[3], values[1]);
  EXPECT_EQ(to[5], values[3]);
}

TEST(Leaves, SumsAreWide) {
  const std::vector<float> ones(30'000'000, 1.0F);  // more than float counts
  EXPECT_EQ(inner(ones, ones), 3e7);
  const std::vector<std::int32_t> large{1 << 30, 1 << 30};
  EXPECT_EQ(inner(large, large), std::int64_t{2} << 60);
  const std::vector<std::complex<double>> z{{1, 2}, {0, 1}};
  EXPECT_EQ(inner(z, z), std::complex<double>(6, 0));
}

TEST(Leaves, SumsOfComplexFloatsAreWide) {
  const std::vector<std::complex<float>> z{{4097, 0}};  // 4097 * 4097 is no float
  EXPECT_EQ(inner(z, z), std::complex<double>(16785409, 0));
}

TEST(Leaves, NormsAndMultiples) {
  const std::vector<float> x{3.0F, 4.0F};
  EXPECT_EQ(norm(x), 5.0);
  const std::vector<std::complex<double>> z{{0, 3}, {4, 0}};
  EXPECT_EQ(norm(z), 5.0);
  std::vector<std::complex<double>> w{{1, 0}, {0, 1}};
  axpy({0, 2}, z, w);
  EXPECT_EQ(w, (std::vector<std::complex<double>>{{-5, 0}, {0, 9}}));
  std::vector<std::int8_t> bytes{100, 1};
  axpy(std::int8_t{2}, bytes, bytes);
  EXPECT_EQ(bytes, (std::vector<std::int8_t>{44, 3}));
  EXPECT_EQ(message_of<UsageError>([&] { axpy(1.0F, x, std::vector<float>(3)); }),
            "axpy: expected 2 values, got 3; pass as many");
}

TEST(Leaves, ScanLeavesOutTheOwn) {
  const std::vector<std::int64_t> counts{1, 10, 2, 20, 3, 30};
  std::vector<std::int64_t> to(6);
  scan(counts, to, 2);
  EXPECT_EQ(to, (std::vector<std::int64_t>{0, 0, 1, 10, 3, 30}));
  scan(to, to, 2);
  EXPECT_EQ(to, (std::vector<std::int64_t>{0, 0, 0, 0, 1, 10}));
}

TEST(Leaves, ScanByMinimaAndMaxima) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> values{3, 5, 1, nan, 2};
  std::vector<double> to(5);
  scan(values, to, 1, Access::min);
  EXPECT_EQ(std::vector<double>(to.begin(), to.begin() + 4),
            (std::vector<double>{infinity, 3, 3, 1}));
  EXPECT_NE(to[4], to[4]);
  scan(values, to, 1, Access::max, true);
  EXPECT_EQ(std::vector<double>(to.begin(), to.begin() + 3), (std::vector<double>{3, 5, 5}));
  EXPECT_NE(to[3], to[3]);
  EXPECT_NE(to[4], to[4]);
  std::vector<std::uint8_t> bytes{7, 9, 3, 1};
  scan(bytes, bytes, 2, Access::max);
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{0, 0, 7, 9}));
  scan(bytes, bytes, 2, Access::inc, true);
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{0, 0, 7, 9}));
}

TEST(Leaves, ScansThatMakeNoSenseAreErrors) {
  std::vector<std::complex<double>> z(2);
  EXPECT_EQ(message_of<UsageError>([&] { scan(z, z, 1, Access::max); }),
            "scan: complex numbers have no order; pass Access::inc");
  EXPECT_EQ(message_of<UsageError>([&] { scan(z, z, 1, Access::rw); }),
            "scan: the operation is Access::inc for sums, min or max, got RW");
  scan(z, z, 1, Access::inc, true);
}

TEST(Leaves, TypesThatNobodyListsWorkToo) {
  const std::vector<long double> x{1, 2};
  EXPECT_EQ(inner(x, x), 5.0L);
  const std::vector<std::uint8_t> bytes{200, 100};
  EXPECT_EQ(inner(bytes, bytes), 50000);
}

TEST(Leaves, RangesOfOtherLengthsAreErrors) {
  const std::vector<double> three(3);
  std::vector<double> two(2);
  const std::vector<int> rows{0};
  EXPECT_EQ(message_of<UsageError>([&] { convert(three, two); }),
            "convert: expected 3 values, got 2; pass as many");
  EXPECT_EQ(message_of<UsageError>([&] { gather(three, rows, two); }),
            "gather: expected 1 values, got 2; pass as many");
  EXPECT_THROW((void)inner(three, two), UsageError);
  EXPECT_THROW(scan(three, two), UsageError);
}

}  // namespace
}  // namespace op2
