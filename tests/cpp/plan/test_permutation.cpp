// SPDX-License-Identifier: BSD-3-Clause
#include "plan/permutation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "base/error.hpp"
#include "maps.hpp"

namespace op2::plan {
namespace {

using testing::random_map;
using testing::TestMap;
using Numbers = std::vector<std::int64_t>;
using Keys = std::vector<std::uint64_t>;

Numbers shuffled(std::int64_t n, unsigned seed) {
  Numbers numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937_64(seed));
  return numbers;
}

TEST(OrderByKey, SortsStablyWithinParts) {
  const Keys keys{5, 1, 5, 0, 9, 9, 2};
  EXPECT_EQ(order_by_key(keys, Numbers{0, 4, 7}, 1), (Numbers{3, 1, 0, 2, 6, 4, 5}));
  EXPECT_EQ(order_by_key(keys, Numbers{0, 7}, 1), (Numbers{3, 1, 6, 0, 2, 4, 5}));
  EXPECT_EQ(order_by_key(keys, Numbers{0, 0, 7, 7}, 1), (Numbers{3, 1, 6, 0, 2, 4, 5}));
}

TEST(OrderByKey, UsesAllBitsAndAnyThreads) {
  std::mt19937_64 engine(1);
  Keys keys(100000);
  for (std::uint64_t& key : keys) key = engine() >> (engine() % 64);
  Numbers expected(keys.size());
  std::iota(expected.begin(), expected.end(), std::int64_t{0});
  std::stable_sort(expected.begin(), expected.end(), [&keys](std::int64_t a, std::int64_t b) {
    return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
  });
  for (const int n_threads : {1, 3}) {
    EXPECT_EQ(order_by_key(keys, Numbers{0, 100000}, n_threads), expected);
  }
}

TEST(OrderByKey, RefusesPartsThatAreNone) {
  const Keys keys{1, 2};
  for (const Numbers& parts : {Numbers{}, Numbers{0, 1}, Numbers{1, 2}, Numbers{0, 2, 1, 2}}) {
    EXPECT_THROW((void)order_by_key(keys, parts, 1), UsageError);
  }
}

TEST(TargetKeys, SortBySmallestThenLargestThenNone) {
  const TestMap<> map({-1, -1, 2, 0, 1, 2, 0, -1}, 2, 3);
  const Keys keys = target_keys(*map.table, Numbers{0, 1, 2}, 1);
  EXPECT_EQ(order_by_key(keys, Numbers{0, 4}, 1), (Numbers{3, 1, 2, 0}));
  const Keys renumbered = target_keys(*map.table, Numbers{2, 1, 0}, 1);
  EXPECT_EQ(order_by_key(renumbered, Numbers{0, 4}, 1), (Numbers{2, 1, 3, 0}));
  EXPECT_THROW((void)target_keys(*map.table, Numbers{0, 1}, 1), UsageError);
}

TEST(VisitorKeys, AreTheFirstElementThatNamesATarget) {
  const TestMap<> map({1, 2, 2, 3, -1, 1}, 2, 5);
  const std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(visitor_keys(*map.table, Numbers{0, 1, 2}), (Keys{never, 0, 0, 1, never}));
  EXPECT_EQ(visitor_keys(*map.table, Numbers{2, 1, 0}), (Keys{never, 0, 1, 1, never}));
  EXPECT_THROW((void)visitor_keys(*map.table, Numbers{0}), UsageError);
}

TEST(InversePermutation, IsTheInverse) {
  const Numbers numbers = shuffled(50000, 2);
  for (const int n_threads : {1, 4}) {
    const Numbers inverse = inverse_permutation(numbers, n_threads);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      ASSERT_EQ(inverse[static_cast<std::size_t>(numbers[i])], static_cast<std::int64_t>(i));
    }
  }
}

TEST(InversePermutation, RefusesWhatIsNoPermutation) {
  EXPECT_THROW((void)inverse_permutation(Numbers{0, 2}, 1), UsageError);
  EXPECT_THROW((void)inverse_permutation(Numbers{0, -1}, 1), UsageError);
  try {
    (void)inverse_permutation(Numbers{2, 0, 1, 0}, 1);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "renumbering: entries 1 and 3 are both 0");
  }
}

TEST(PermuteRows, GoesBackByTheInverse) {
  const std::int64_t n = 20000;
  const Numbers order = shuffled(n, 3);
  std::vector<double> values(static_cast<std::size_t>(3 * n));
  std::iota(values.begin(), values.end(), 0.0);
  std::vector<double> moved(values.size());
  std::vector<double> back(values.size());
  permute_rows(std::as_bytes(std::span(values)), std::as_writable_bytes(std::span(moved)), order,
               2);
  EXPECT_EQ(moved[0], 3.0 * static_cast<double>(order[0]));
  EXPECT_EQ(moved[5], 3.0 * static_cast<double>(order[1]) + 2.0);
  permute_rows(std::as_bytes(std::span(moved)), std::as_writable_bytes(std::span(back)),
               inverse_permutation(order, 1), 2);
  EXPECT_EQ(back, values);
}

TEST(PermuteRows, RefusesArraysOfAnotherSize) {
  std::vector<std::byte> three(3);
  std::vector<std::byte> four(4);
  EXPECT_THROW(permute_rows(three, four, Numbers{0, 1}, 1), UsageError);
  EXPECT_THROW(permute_rows(three, three, Numbers{0, 1}, 1), UsageError);
  EXPECT_THROW(permute_rows(three, three, Numbers{}, 1), UsageError);
  EXPECT_NO_THROW(permute_rows({}, {}, Numbers{}, 1));
}

template <class Index>
void expect_relabelled() {
  const auto map = random_map<Index>(9000, 3, 700, 0.1, true, 4);
  const Numbers rows = shuffled(9000, 5);
  const Numbers targets = shuffled(700, 6);
  std::vector<Index> values(map.values.size());
  relabel(*map.table, rows, targets, std::as_writable_bytes(std::span(values)), 2);
  for (std::size_t row = 0; row < 9000; ++row) {
    for (std::size_t slot = 0; slot < 3; ++slot) {
      const std::int64_t old = map.table->at(rows[row], static_cast<int>(slot));
      ASSERT_EQ(values[3 * row + slot], old < 0 ? old : targets[static_cast<std::size_t>(old)]);
    }
  }
}

TEST(Relabel, MovesRowsAndRenamesTargets) {
  expect_relabelled<std::int32_t>();
  expect_relabelled<std::int64_t>();
}

TEST(Relabel, EmptyMeansUnchanged) {
  const TestMap<> map({0, 1, 1, 2}, 2, 3);
  std::vector<std::int32_t> values(4);
  const auto bytes = std::as_writable_bytes(std::span(values));
  relabel(*map.table, {}, {}, bytes, 1);
  EXPECT_EQ(values, map.values);
  relabel(*map.table, Numbers{1, 0}, {}, bytes, 1);
  EXPECT_EQ(values, (std::vector<std::int32_t>{1, 2, 0, 1}));
  relabel(*map.table, {}, Numbers{2, 0, 1}, bytes, 1);
  EXPECT_EQ(values, (std::vector<std::int32_t>{2, 0, 0, 1}));
  EXPECT_THROW(relabel(*map.table, Numbers{0}, {}, bytes, 1), UsageError);
  EXPECT_THROW(relabel(*map.table, {}, Numbers{0}, bytes, 1), UsageError);
  EXPECT_THROW(relabel(*map.table, {}, {}, bytes.first(8), 1), UsageError);
}

}  // namespace
}  // namespace op2::plan
