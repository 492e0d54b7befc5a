// SPDX-License-Identifier: BSD-3-Clause
#include "plan/colour_sets.hpp"

#include <gtest/gtest.h>

namespace op2::plan {
namespace {

std::int64_t take(ColourSets& sets, const std::vector<std::int64_t>& targets) {
  return sets.take_lowest([&targets](const auto& f) {
    for (const std::int64_t target : targets) f(target);
  });
}

TEST(ColourSets, GiveTheLowestFreeColour) {
  ColourSets sets(3);
  EXPECT_EQ(take(sets, {0}), 0);
  EXPECT_EQ(take(sets, {0, 1}), 1);
  EXPECT_EQ(take(sets, {1}), 0);
  EXPECT_EQ(take(sets, {1, 2}), 2);
  EXPECT_EQ(take(sets, {2}), 0);
  EXPECT_EQ(sets.n_seen(1), 3);
}

TEST(ColourSets, AnItemWithoutTargetsIsFree) {
  ColourSets sets(1);
  EXPECT_EQ(take(sets, {}), 0);
  EXPECT_EQ(take(sets, {}), 0);
}

TEST(ColourSets, GoOnBeyondTheMask) {
  ColourSets sets(3);
  for (std::int64_t i = 0; i < 200; ++i) EXPECT_EQ(take(sets, {0, 0}), i);
  for (std::int64_t i = 0; i < 70; ++i) EXPECT_EQ(take(sets, {1}), i);
  EXPECT_EQ(take(sets, {0, 1}), 200);
  EXPECT_EQ(take(sets, {1}), 70);  // 200 lies beyond: the colours between are still free
  EXPECT_EQ(take(sets, {2, 1}), 71);
  EXPECT_EQ(take(sets, {2}), 0);
  EXPECT_EQ(sets.n_seen(0), 201);
  EXPECT_EQ(sets.n_seen(1), 73);
}

}  // namespace
}  // namespace op2::plan
