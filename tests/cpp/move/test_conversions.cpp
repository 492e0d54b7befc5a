// SPDX-License-Identifier: BSD-3-Clause
#include "move/conversions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "../base/message_of.hpp"
#include "base/error.hpp"
#include "move/trees.hpp"
#include "move/types.hpp"

namespace op2::move {
namespace {

using namespace testing;
using op2::testing::message_of;

constexpr Type truth{DType::uint8, true};

template <class T>
DType dtype_for() {
  DType found = DType::float64;
  for (std::size_t i = 0; i < n_dtypes; ++i) {
    with_type(static_cast<DType>(i), [&found, i](auto value) {
      if (std::is_same_v<decltype(value), T>) found = static_cast<DType>(i);
    });
  }
  return found;
}

/// The first of values that a type does not hold, by all three requests.
template <class From>
std::int64_t unfit(const Type& to, const std::vector<From>& values,
                   Casting casting = Casting::fitting) {
  const Type from{dtype_for<From>(), false};
  const auto n = static_cast<std::int64_t>(values.size());
  Items items{};
  items.from[0] = reinterpret_cast<const char*>(values.data());
  items.from_stride[0] = sizeof(From);
  const Tree strided(Request::strided, checking(to, from, casting));
  const std::int64_t found = strided.run(items, n);
  const Tree indexed(Request::indexed, checking(to, from, casting));
  EXPECT_EQ(indexed.run(items, {}, n), found);
  const Tree single(Request::single, checking(to, from, casting));
  for (std::int64_t i = 0; i < n; ++i) {
    if (single.run(items.behind(i)) == all_fit) continue;
    EXPECT_EQ(i, found);
    return found;
  }
  EXPECT_EQ(found, all_fit);
  if (found == all_fit && casting != Casting::unsafe) {
    EXPECT_TRUE(!always_fits(to, from, casting) || found == all_fit);
  }
  return found;
}

TEST(Conversions, EveryPairIsConvertedByAllRequests) {
  for (std::size_t i = 0; i < n_dtypes; ++i) {
    for (std::size_t j = 0; j < n_dtypes; ++j) {
      const Type to{static_cast<DType>(i), false}, from{static_cast<DType>(j), false};
      if (!are_convertible(to, from)) {
        EXPECT_THROW((void)conversion(to, from), UsageError);
        continue;
      }
      with_type(from.dtype, [&](auto source) {
        using From = decltype(source);
        const std::vector<From> values{From(1), From(0), From(100), From(7), From(3)};
        with_type(to.dtype, [&](auto target) {
          using To = decltype(target);
          std::vector<To> strided(5), indexed(5), single(5);
          const auto items = [&values](std::vector<To>& into) {
            Items found{.to = reinterpret_cast<char*>(into.data()),
                        .to_stride = sizeof(To),
                        .from = {},
                        .from_stride = {sizeof(From)}};
            found.from[0] = reinterpret_cast<const char*>(values.data());
            return found;
          };
          EXPECT_EQ(conversion(to, from).run(items(strided), 5), all_fit);
          const std::vector<To> expected{To(1), To(0), To(100), To(7), To(3)};
          EXPECT_EQ(strided, expected);
          const std::vector<std::int64_t> rows{4, 3, 2, 1, 0};
          const Tree by_list(Request::indexed, converting(to, from));
          EXPECT_EQ(by_list.run(items(indexed), {rows.data(), rows.data()}, 5), all_fit);
          EXPECT_EQ(indexed, expected);
          const Tree one(Request::single, converting(to, from));
          for (std::int64_t k = 0; k < 5; ++k) {
            EXPECT_EQ(one.run(items(single).behind(k)), all_fit);
          }
          EXPECT_EQ(single, expected);
        });
      });
    }
  }
}

TEST(Conversions, RangesEndWhereTheyEnd) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double huge = std::numeric_limits<double>::infinity();
  EXPECT_EQ(unfit<double>(int8, {-128.0, 127.9, -0.0, 128.0}), 3);
  EXPECT_EQ(unfit<double>(int8, {-128.5}), 0);
  EXPECT_EQ(unfit<double>(int32, {2147483647.5, nan}), 1);
  EXPECT_EQ(unfit<double>(int64, {9223372036854774784.0, 9223372036854775808.0}), 1);
  EXPECT_EQ(
      unfit<double>(float32, {nan, huge, -huge, 3.4028235677973362e38, 3.4028235677973366e38}), 4);
  EXPECT_EQ(unfit<std::int64_t>({DType::uint32, false}, {0, 4294967295, -1}), 2);
  EXPECT_EQ(unfit<std::uint64_t>(int64, {9223372036854775807U, 9223372036854775808U}), 1);
  EXPECT_EQ(unfit<std::complex<double>>({DType::complex64, false}, {{1, nan}, {0, 1e39}}), 1);
  EXPECT_EQ(unfit<double>({DType::complex64, false}, {1, -1e39}), 1);
  EXPECT_EQ(unfit<std::int32_t>(truth, {0, 1, 2}), 2);
  EXPECT_EQ(unfit<double>(truth, {0.0, 1.5, -0.5}), 2);
}

TEST(Conversions, ExactOnesLeadBack) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr auto exact = Casting::exact;
  EXPECT_EQ(unfit<double>(int8, {-128.0, 127.0, -0.0, 1.5}, exact), 3);
  EXPECT_EQ(unfit<double>(int8, {nan}, exact), 0);
  EXPECT_EQ(unfit<double>(float32, {0.5, nan, 0.1}, exact), 2);
  EXPECT_EQ(unfit<std::int64_t>(float64, {1LL << 53, (1LL << 53) + 1}, exact), 1);
  EXPECT_EQ(unfit<std::int64_t>(float64,
                                {std::numeric_limits<std::int64_t>::min(),
                                 std::numeric_limits<std::int64_t>::max()},
                                exact),
            1);
  EXPECT_EQ(unfit<std::uint64_t>(float32, {1U << 24, (1U << 24) + 1}, exact), 1);
  EXPECT_EQ(unfit<std::uint64_t>(float32, {std::numeric_limits<std::uint64_t>::max()}, exact), 0);
  EXPECT_EQ(unfit<std::complex<double>>({DType::complex64, false}, {{1, 0.5}, {0.1, 0}}, exact), 1);
}

TEST(Conversions, TheFirstOfManyIsFound) {
  for (const std::size_t n :
       {std::size_t{511}, std::size_t{512}, std::size_t{513}, std::size_t{2000}}) {
    std::vector<double> values(n, 1.0);
    EXPECT_EQ(unfit(int8, values), all_fit);
    values.back() = 1000;
    EXPECT_EQ(unfit(int8, values), static_cast<std::int64_t>(n) - 1);
    values[n / 2] = -1000;
    EXPECT_EQ(unfit(int8, values), static_cast<std::int64_t>(n) / 2);
  }
}

TEST(Conversions, WhatAlwaysFitsIsNotChecked) {
  constexpr auto fitting = Casting::fitting, exact = Casting::exact;
  EXPECT_TRUE(always_fits(float32, int64, fitting));
  EXPECT_FALSE(always_fits(float32, int64, exact));
  EXPECT_TRUE(always_fits(float64, int32, exact));
  EXPECT_TRUE(always_fits(float64, float32, exact));
  EXPECT_FALSE(always_fits(float32, float64, fitting));
  EXPECT_TRUE(always_fits(int64, int8, exact));
  EXPECT_FALSE(always_fits({DType::uint64, false}, int8, fitting));
  EXPECT_TRUE(always_fits({DType::complex64, false}, float32, exact));
  EXPECT_FALSE(always_fits({DType::complex64, false}, float64, exact));
  EXPECT_FALSE(always_fits(truth, {DType::uint8, false}, fitting));
  EXPECT_TRUE(always_fits(int8, truth, exact));
  EXPECT_TRUE(always_fits(int8, float64, Casting::unsafe));
}

TEST(Conversions, TruthIsAnyNumberButZero) {
  const std::vector<double> values{0.0, 0.5, std::numeric_limits<double>::quiet_NaN(), -0.0};
  std::vector<std::uint8_t> to(4, 9);
  Items items{
      .to = reinterpret_cast<char*>(to.data()), .to_stride = 1, .from = {}, .from_stride = {8}};
  items.from[0] = reinterpret_cast<const char*>(values.data());
  EXPECT_EQ(conversion(truth, float64).run(items, 4), all_fit);
  EXPECT_EQ(to, (std::vector<std::uint8_t>{0, 1, 1, 0}));
}

TEST(Conversions, NamesAreChecked) {
  EXPECT_EQ(casting_from("exact"), Casting::exact);
  EXPECT_EQ(message_of<UsageError>([] { (void)casting_from("safe"); }),
            "casting must be one of 'fitting', 'exact', 'unsafe', got 'safe'");
  EXPECT_EQ(message_of<UsageError>([] {
              (void)conversion(float64, {DType::complex64, false});
            }),
            "values of complex64 cannot become float64: their imaginary parts would be lost; take "
            "their real parts");
  EXPECT_EQ(name_of(truth), "bool");
}

}  // namespace
}  // namespace op2::move
