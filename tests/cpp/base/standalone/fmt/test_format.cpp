// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <list>
#include <random>
#include <string>
#include <vector>

#include "base/message_of.hpp"

namespace op2 {
namespace {

using testing::contains;
using testing::message_of;

std::string filled(const char* format, const std::vector<fmt::argument>& values) {
  return fmt::vformat(format, values.data(), values.size());
}

TEST(Format, PutsValuesOfAllTypesIntoFields) {
  const std::string name = "flux";
  EXPECT_EQ(fmt::format("no field"), "no field");
  EXPECT_EQ(fmt::format("'{}' {} {}{}", name, "text", std::string_view("view"), 'c'),
            "'flux' text viewc");
  EXPECT_EQ(fmt::format("{} {} {{}} }}{{", true, false), "true false {} }{");
  EXPECT_EQ(fmt::format("{} {}", std::numeric_limits<std::int64_t>::min(),
                        std::numeric_limits<std::uint64_t>::max()),
            "-9223372036854775808 18446744073709551615");
  EXPECT_EQ(fmt::format("{} {} {}", 0, std::int8_t{-7}, std::uint8_t{200}), "0 -7 200");
}

TEST(Format, FieldsHaveNumbersAndNames) {
  EXPECT_EQ(fmt::format("{1} {0} {1}", "a", "b"), "b a b");
  EXPECT_EQ(fmt::format("{10}", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, "ten"), "ten");
  const std::string text = "x[n]";
  EXPECT_EQ(fmt::format(fmt::runtime("{0} {at} {n}"), 1, fmt::arg("at", text), fmt::arg("n", 4)),
            "1 x[n] 4");
}

TEST(Format, JoinsElements) {
  const std::list<std::string> names{"a", "b"};
  const std::vector<int> numbers{1, -2, 3};
  EXPECT_EQ(fmt::format("[{}] {}", fmt::join(numbers, ", "), fmt::join(names, "/")),
            "[1, -2, 3] a/b");
  EXPECT_EQ(fmt::format("{}", fmt::join(numbers.begin() + 1, numbers.end(), " ")), "-2 3");
  EXPECT_EQ(fmt::format("<{}>", fmt::join(std::vector<int>(), ", ")), "<>");
}

TEST(Format, NumbersAreTheShortestThatComeBack) {
  EXPECT_EQ(fmt::format("{} {} {} {}", 1.0, -2.5, 100.0, 0.1), "1 -2.5 100 0.1");
  EXPECT_EQ(fmt::format("{} {} {}", 123456.0, 1e15, 1e16), "123456 1000000000000000 1e+16");
  EXPECT_EQ(fmt::format("{} {} {}", 1.5e300, 1e-4, 1.25e-5), "1.5e+300 0.0001 1.25e-05");
  EXPECT_EQ(fmt::format("{} {} {}", 1.0 / 3, 2.0 / 3, 5e-324),
            "0.3333333333333333 0.6666666666666666 5e-324");
  EXPECT_EQ(fmt::format("{} {}", 0.1F, 16777216.0F), "0.1 16777216");
  EXPECT_EQ(fmt::format("{} {}", 0.0, -0.0), "0 -0");
  EXPECT_EQ(fmt::format("{} {} {}", INFINITY, -INFINITY, std::fabs(NAN)), "inf -inf nan");
}

TEST(Format, EveryNumberComesBack) {
  std::mt19937_64 bits(1);
  for (int i = 0; i < 20'000; ++i) {
    const auto value = std::bit_cast<double>(bits());
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(std::strtod(fmt::format("{}", value).c_str(), nullptr), value);
    const auto single = static_cast<float>(std::ldexp(1.0 + 1e-9 * static_cast<double>(i), i % 99));
    EXPECT_EQ(std::strtof(fmt::format("{}", single).c_str(), nullptr), single);
  }
}

TEST(Format, RoundsAndWritesBits) {
  EXPECT_EQ(fmt::format("{:.1f} {:.1f} {:.1f} {:.0f}", 2.25, 0.06, -12.0, 7.6), "2.2 0.1 -12.0 8");
  EXPECT_EQ(fmt::format("{:g} {:g} {:g} {:g}", 10.0, 0.25, 1234567.0, 1e-5),
            "10 0.25 1.23457e+06 1e-05");
  EXPECT_EQ(fmt::format("{:x} {:04x} {:016x} {:o}", 255U, 10U, std::uint64_t{0xabcdef}, 0700U),
            "ff 000a 0000000000abcdef 700");
}

/// The number of a locale with another point, which a program may choose for its own output.
TEST(Format, PointsAreTheSameInEveryLocale) {
  const std::string usual = std::setlocale(LC_NUMERIC, nullptr);
  bool found = false;
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "nl_NL.UTF-8"}) {
    found = found || std::setlocale(LC_NUMERIC, name) != nullptr;
  }
  const std::string text = fmt::format("{} {:.1f} {:g}", 0.5, 2.25, 1.5);
  std::setlocale(LC_NUMERIC, usual.c_str());
  EXPECT_EQ(text, "0.5 2.2 1.5");
  if (!found) GTEST_SKIP() << "no locale with a comma is installed";
}

TEST(Format, RefusesWhatItDoesNotKnow) {
  EXPECT_TRUE(contains(message_of<fmt::format_error>([] { (void)filled("{} {}", {1}); }),
                       "more fields than the 1 arguments"));
  EXPECT_TRUE(contains(message_of<fmt::format_error>([] {
                         (void)filled("{3}", {1, 2});
                       }),
                       "more fields than the 2 arguments"));
  EXPECT_TRUE(contains(message_of<fmt::format_error>([] { (void)filled("{at}", {1}); }), "'at'"));
  EXPECT_TRUE(contains(message_of<fmt::format_error>([] { (void)filled("{:>8}", {1}); }), "'>8'"));
  EXPECT_TRUE(contains(message_of<fmt::format_error>([] { (void)filled("{:x}", {"a"}); }), "'x'"));
  EXPECT_TRUE(contains(message_of<fmt::format_error>([] { (void)filled("{:e}", {1.5}); }), "'e'"));
  for (const char* format : {"{", "a}", "{0", "}{}"}) {
    EXPECT_TRUE(contains(message_of<fmt::format_error>([format] { (void)filled(format, {1}); }),
                         "has no partner"));
  }
}

TEST(Format, CountsFieldsWhenItIsCompiled) {
  static_assert(fmt::n_fields("{} {{}} {:.1f} {0} {name}") == 2);
  static_assert(fmt::n_fields("no field") == 0);
  static_assert(fmt::n_fields("{") == -1);
  static_assert(fmt::n_fields("{:>8}") == -1);
  static_assert(fmt::n_fields("a}") == -1);
}

}  // namespace
}  // namespace op2
