// SPDX-License-Identifier: BSD-3-Clause
#include "plan/interleave.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "maps.hpp"

namespace op2::plan {
namespace {

std::vector<std::int32_t> order_of(const testing::TestMap<>& map, std::int64_t window,
                                   int n_threads = 1) {
  const Interleaved plan =
      interleave(*map.table, {map.table->n_rows(), nullptr}, window, n_threads);
  return std::get<std::vector<std::int32_t>>(plan.order);
}

TEST(Interleave, TakesTheFirstElementOfEachTargetThenTheSecond) {
  //                          0     1     2     3     4     5
  const testing::TestMap<> map({0, 9, 0, 8, 5, 1, 1, 7, 2, 9, 9, 2}, 2, 10);
  EXPECT_EQ(order_of(map, 32), (std::vector<std::int32_t>{0, 2, 4, 1, 3, 5}));
}

TEST(Interleave, WindowsFollowEachOther) {
  const testing::TestMap<> map({0, 0, 1, 1, 2, 2, 3, 3}, 1, 4);
  EXPECT_EQ(order_of(map, 2), (std::vector<std::int32_t>{0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_EQ(order_of(map, 1), (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Interleave, ElementsWithoutATargetComeLast) {
  const testing::TestMap<> map({-1, 3, 0}, 1, 4);
  EXPECT_EQ(order_of(map, 32), (std::vector<std::int32_t>{2, 1, 0}));
}

TEST(Interleave, OrdersWhatIsBeforeTheBoundaryByItself) {
  const auto map = testing::random_map(500, 4, 80, 0.2, true, 4);
  const auto order_with = [&map](std::int64_t n, std::int64_t n_boundary) {
    const Interleaved plan = interleave(*map.table, {n, nullptr, n_boundary}, 32, 1);
    return std::get<std::vector<std::int32_t>>(plan.order);
  };
  for (const std::int64_t n_core : {0, 1, 250, 499, 500}) {
    std::vector<std::int32_t> order = order_with(500, 500 - n_core);
    const std::vector<std::int32_t> core(order.begin(), order.begin() + n_core);
    EXPECT_EQ(core, order_with(n_core, 0));
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], static_cast<int>(i));
  }
}

TEST(Interleave, HasEachElementOnceWhateverTheThreads) {
  const auto map = testing::random_map(5000, 4, 800, 0.05, true, 3);
  const std::vector<std::int32_t> one = order_of(map, 32);
  EXPECT_EQ(order_of(map, 32, 3), one);
  std::vector<std::int32_t> sorted = one;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::int32_t> all(5000);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all);
}

TEST(Interleave, RefusesWhatTheMapDoesNotHave) {
  const testing::TestMap<> map({0, 1}, 1, 2);
  EXPECT_THROW((void)interleave(*map.table, {3, nullptr}, 32, 1), UsageError);
  EXPECT_THROW((void)interleave(*map.table, {2, nullptr}, 0, 1), UsageError);
  EXPECT_EQ(interleave(*map.table, {0, nullptr}, 32, 1).bytes(), 0);
  EXPECT_EQ(interleave(*map.table, {2, nullptr}, 32, 1).bytes(), 8);
}

TEST(Scatter, IsOneWhereNeighboursHaveNeighbours) {
  const std::int64_t n = 100'000;
  std::vector<std::int32_t> pairs;
  for (std::int32_t e = 0; e < n; ++e) pairs.insert(pairs.end(), {e, e + 1});
  const testing::TestMap<> path(pairs, 2, n + 1);
  EXPECT_NEAR(scatter(*path.table, n, {}), 1.0, 0.1);
  std::shuffle(pairs.begin(), pairs.end(), std::mt19937(1));
  const testing::TestMap<> shuffled(pairs, 2, n + 1);
  EXPECT_GT(scatter(*shuffled.table, n, {}), 2.0);
}

TEST(Scatter, CountsTheLanesOfTheDevice) {
  // each target in a sector of its own
  std::vector<std::int32_t> targets;
  for (std::int32_t e = 0; e < 64; ++e) targets.push_back(e % 2 == 0 ? 8 * e : 8 * e + 1);
  const testing::TestMap<> map(targets, 1, 1024);
  EXPECT_EQ(scatter(*map.table, 64, {.window = 2048, .lanes = 64}), 4.0);
  EXPECT_EQ(scatter(*map.table, 64, {.window = 2048, .lanes = 32, .sector_targets = 1}), 1.0);
  // too few for a warp of 64 to tell, enough for one of 32
  EXPECT_EQ(scatter(*map.table, 63, {.window = 2048, .lanes = 64}), 1.0);
  EXPECT_EQ(scatter(*map.table, 63, {.window = 2048, .lanes = 32}), 4.0);
  EXPECT_THROW((void)scatter(*map.table, 64, {.lanes = 0}), UsageError);
}

TEST(Scatter, IsOneWhereNobodyCanTell) {
  const testing::TestMap<> map(std::vector<std::int32_t>(62, -1), 2, 9);
  EXPECT_EQ(scatter(*map.table, 0, {}), 1.0);
  EXPECT_EQ(scatter(*map.table, 31, {}), 1.0);
  const testing::TestMap<> none(std::vector<std::int32_t>(6400, -1), 2, 9);
  EXPECT_EQ(scatter(*none.table, 3200, {}), 1.0);
  EXPECT_THROW((void)scatter(*map.table, 32, {}), UsageError);
}

TEST(Reordered, HasTheRowsInTheOrderOfThePlan) {
  const testing::TestMap<> map({0, 0, 1, 1}, 1, 2);
  const testing::TestMap<std::int64_t> other({10, 11, 20, 21, 30, 31, 40, 41}, 2, 50);
  const Interleaved plan = interleave(*map.table, {3, nullptr}, 32, 1);
  const TargetTable found = reordered(*other.table, plan, 2);
  EXPECT_EQ(found.map->index_bytes(), 8);
  EXPECT_EQ(found.map->n_rows(), 3);
  EXPECT_EQ(found.map->n_targets(), 50);
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(found.values),
            (std::vector<std::int64_t>{10, 11, 30, 31, 20, 21}));
  EXPECT_EQ(found.map->at(1, 0), 30);
}

}  // namespace
}  // namespace op2::plan
