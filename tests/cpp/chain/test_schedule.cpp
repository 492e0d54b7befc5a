// SPDX-License-Identifier: BSD-3-Clause
#include "chain/schedule.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../lower/loops.hpp"

namespace op2::chain {
namespace {

using lower::testing::direct;
using lower::testing::indirect;
using lower::testing::NamedArg;

constexpr ir::Alias q{0, 0};
constexpr ir::Alias p{1, 1};
constexpr ir::Alias r{2, 2};
constexpr int cells = 1;  // where Map 0 leads
constexpr int edges = 2;

/// A loop over a Set whose kernel writes 1 wherever it may.
ir::Loop loop_over(int set, const std::string& name, const std::vector<NamedArg>& args) {
  ir::Loop made = lower::testing::make_loop_of(name, args, {{2, 1}},
                                               [](int) { return lower::testing::literal("1.0"); });
  made.set = set;
  return made;
}

Entry entry(ir::Loop loop, double n_bytes = 1.0) {
  return {std::move(loop), "", "", n_bytes};
}

std::vector<std::vector<std::size_t>> loops_of(const Schedule& schedule) {
  std::vector<std::vector<std::size_t>> out;
  for (const Step& step : schedule.steps) out.push_back(step.loops);
  return out;
}

using Groups = std::vector<std::vector<std::size_t>>;

Entry make_p_of_q() {
  return entry(loop_over(cells, "make",
                         {direct("y", Access::write, 1, p), direct("x", Access::read, 1, q)}));
}
Entry change_q() {
  return entry(loop_over(cells, "change", {direct("x", Access::rw, 1, q)}));
}
Entry sum_q() {
  return entry(loop_over(
      edges, "sum", {indirect("y", Access::inc, 0, 1, r), indirect("x", Access::read, 0, 1, q)}));
}
Entry take_r() {
  return entry(loop_over(cells, "take",
                         {direct("x", Access::write, 1, q), direct("y", Access::read, 1, r)}));
}

TEST(Schedule, LoopsOverOneSetBecomeOne) {
  EXPECT_EQ(loops_of(schedule({make_p_of_q(), change_q()}, {})), (Groups{{0, 1}}));
  EXPECT_EQ(loops_of(schedule({make_p_of_q(), change_q()}, {.fuse = false})), (Groups{{0}, {1}}));
}

TEST(Schedule, ALoopThatIsKeptAloneSaysWhy) {
  Entry alone = change_q();
  alone.why_alone = "its kernel is opaque";
  const Schedule found = schedule({make_p_of_q(), alone}, {});
  EXPECT_EQ(loops_of(found), (Groups{{0}, {1}}));
  ASSERT_EQ(found.decisions.size(), 1U);
  EXPECT_FALSE(found.decisions[0].applied);
  EXPECT_EQ(found.decisions[0].why, "'change': its kernel is opaque");
}

TEST(Schedule, ASumIsSeenFromItsTargetsAndWhatIsStillReadIsRenamed) {
  const Schedule found = schedule({sum_q(), take_r()}, {});
  ASSERT_EQ(loops_of(found), (Groups{{0, 1}}));
  EXPECT_EQ(found.steps[0].inverted, 0U);
  EXPECT_EQ(found.steps[0].renamed, (std::vector<Renamed>{{1, 0, true}}));
}

TEST(Schedule, WithoutASecondBufferTheyStayApart) {
  EXPECT_EQ(loops_of(schedule({sum_q(), take_r()}, {.rename = false})), (Groups{{0}, {1}}));
  EXPECT_EQ(loops_of(schedule({sum_q(), take_r()}, {.invert = false})), (Groups{{0}, {1}}));
}

TEST(Schedule, WhoComesAfterARenamedDatFindsItThere) {
  const Schedule found = schedule({sum_q(), take_r(), make_p_of_q()}, {});
  ASSERT_EQ(loops_of(found), (Groups{{0, 1, 2}}));
  EXPECT_EQ(found.steps[0].renamed, (std::vector<Renamed>{{1, 0, true}, {2, 1, false}}));
}

TEST(Schedule, NothingMovesPastWhatItDependsOn) {
  // `sum` reads what the first loop writes and the last one writes what `sum` reads
  EXPECT_EQ(loops_of(schedule({change_q(), sum_q(), change_q()}, {.invert = false})),
            (Groups{{0}, {1}, {2}}));
}

TEST(Schedule, SumsIntoOneDatChangePlaces) {
  EXPECT_FALSE(depends(sum_q().loop, sum_q().loop));
  EXPECT_TRUE(depends(sum_q().loop, take_r().loop));
  EXPECT_TRUE(depends(take_r().loop, sum_q().loop));
}

TEST(Schedule, OfSeveralGroupsTheOneThatMovesMostIsJoined) {
  Entry small = sum_q();
  small.loop.set = edges + 1;  // or both sums would be one loop
  small.n_bytes = 0.5;
  const Schedule found = schedule({sum_q(), small, take_r()}, {});
  EXPECT_EQ(loops_of(found), (Groups{{1}, {0, 2}}));
}

TEST(Schedule, WhatIsOverwrittenUnseenIsNotStored) {
  const Entry use_p = entry(
      loop_over(cells, "use", {direct("y", Access::read, 1, p), direct("z", Access::write, 1, r)}));
  const Entry spread =
      entry(loop_over(edges, "spread",
                      {indirect("x", Access::inc, 0, 1, q), indirect("z", Access::read, 0, 1, r)}));
  const std::vector<Entry> chain{make_p_of_q(), use_p, spread, make_p_of_q()};
  const Schedule found = schedule(chain, {.invert = false});
  ASSERT_EQ(loops_of(found), (Groups{{0, 1}, {2}, {3}}));
  EXPECT_EQ(found.steps[0].dropped, (std::vector<int>{1}));
  EXPECT_TRUE(schedule(chain, {.invert = false, .drop = false}).steps[0].dropped.empty());
}

TEST(Schedule, ActionsKeepTheirPlace) {
  const Entry zero = action({{q, true}});
  EXPECT_EQ(loops_of(schedule({change_q(), zero, change_q()}, {})), (Groups{{0}, {1}, {2}}));
  EXPECT_EQ(loops_of(schedule({make_p_of_q(), action({{r, true}}), change_q()}, {})),
            (Groups{{0, 2}, {1}}));
}

}  // namespace
}  // namespace op2::chain
