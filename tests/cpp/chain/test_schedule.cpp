// SPDX-License-Identifier: BSD-3-Clause
#include "chain/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../lower/loops.hpp"
#include "kernel/types.hpp"

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
  EXPECT_EQ(found.steps[0].inverted, (std::vector<std::size_t>{0}));
  EXPECT_EQ(found.steps[0].renamed, (std::vector<Renamed>{{1, 0, true}}));
}

TEST(Schedule, WhatChangesAValueThatIsStillReadFindsACopyOfItInTheSecondBuffer) {
  const Schedule found = schedule({sum_q(), change_q(), make_p_of_q()}, {});
  ASSERT_EQ(loops_of(found), (Groups{{0, 1, 2}}));
  EXPECT_EQ(found.steps[0].renamed, (std::vector<Renamed>{{1, 0, true, true}, {2, 1, false}}));
  EXPECT_EQ(loops_of(schedule({sum_q(), change_q()}, {.rename = false})), (Groups{{0}, {1}}));
  EXPECT_EQ(loops_of(schedule({sum_q(), change_q()}, {}, {q.data})), (Groups{{0}, {1}}));
}

TEST(Schedule, WhatIsOnlyAddedToNeedsNoSecondBuffer) {
  Entry change_r = entry(loop_over(cells, "change", {direct("x", Access::rw, 1, r)}));
  const Schedule found = schedule({sum_q(), change_r}, {});
  ASSERT_EQ(loops_of(found), (Groups{{0, 1}}));
  EXPECT_TRUE(found.steps[0].renamed.empty());
}

TEST(Schedule, WithoutASecondBufferTheyStayApart) {
  EXPECT_EQ(loops_of(schedule({sum_q(), take_r()}, {.rename = false})), (Groups{{0}, {1}}));
  EXPECT_EQ(loops_of(schedule({sum_q(), take_r()}, {.invert = false})), (Groups{{0}, {1}}));
}

TEST(Schedule, WhatOthersHoldHasNoSecondBuffer) {
  EXPECT_EQ(loops_of(schedule({sum_q(), take_r()}, {}, {q.data})), (Groups{{0}, {1}}));
}

TEST(Schedule, LoopsThatGainByLanesJoinOnlyWhatCanHaveThem) {
  Entry heavy = make_p_of_q();
  heavy.lanes = 8;
  Entry other = change_q();
  EXPECT_EQ(loops_of(schedule({heavy, other}, {})), (Groups{{0, 1}}));
  other.why_no_lanes = "a loop inside";
  const Schedule found = schedule({heavy, other}, {});
  EXPECT_EQ(loops_of(found), (Groups{{0}, {1}}));
  EXPECT_EQ(found.decisions.at(0).why,
            "'make' runs on 8 lanes, and 'change' cannot: a loop inside");
}

TEST(Schedule, TargetsOnLanesAskWhetherTheirColumnsCan) {
  Entry sum = sum_q();
  sum.lanes = 4;
  sum.why_no_lanes = "only in columns";
  EXPECT_EQ(loops_of(schedule({sum, take_r()}, {})), (Groups{{0, 1}}));
  sum.why_no_columns = "not in columns";
  EXPECT_EQ(loops_of(schedule({sum, take_r()}, {})), (Groups{{0}, {1}}));
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

TEST(Schedule, LoopsOverPartsShareAFunctionIfTheseAreTheSame) {
  Entry make = make_p_of_q();
  Entry change = change_q();
  make.loop.iteration.subset = change.loop.iteration.subset = true;
  make.part = change.part = 1;
  EXPECT_EQ(loops_of(schedule({make, change}, {})), (Groups{{0, 1}}));
  change.part = 2;
  const Schedule found = schedule({make, change}, {});
  EXPECT_EQ(loops_of(found), (Groups{{0}, {1}}));
  EXPECT_EQ(found.decisions.at(0).why,
            "they do not visit the same elements, or not in the same way; give both the same Set "
            "and part");
  EXPECT_EQ(loops_of(schedule({make_p_of_q(), change}, {})), (Groups{{0}, {1}}));
}

TEST(Schedule, OfSeveralGroupsTheOneThatMovesMostIsJoined) {
  Entry small = sum_q();
  small.loop.set = edges + 1;  // or both sums would be one loop
  small.n_bytes = 0.5;
  small.why_no_invert = small.why_no_join = "its kernel is called too often";
  const Schedule found = schedule({sum_q(), small, take_r()}, {});
  EXPECT_EQ(loops_of(found), (Groups{{1}, {0, 2}}));
}

TEST(Schedule, FurtherLoopsThatAddToTheTargetsComeIn) {
  Entry few = sum_q();
  few.loop.set = edges + 1;
  few.n_bytes = 0.5;
  few.why_no_invert = "it adds to few of its targets";
  const Schedule found = schedule({sum_q(), few, take_r()}, {});
  ASSERT_EQ(loops_of(found), (Groups{{0, 1, 2}}));
  EXPECT_EQ(found.steps[0].inverted, (std::vector<std::size_t>{0, 1}));
  // alone it stays as it is
  EXPECT_EQ(loops_of(schedule({few, take_r()}, {})), (Groups{{0}, {1}}));
  // after the others, too, unless these have used the sum
  EXPECT_EQ(loops_of(schedule({sum_q(), take_r(), few}, {})), (Groups{{0, 1}, {2}}));
  few.entry_bytes = 8;
  EXPECT_EQ(loops_of(schedule({sum_q(), few, take_r()}, {})), (Groups{{1}, {0, 2}}));
}

/// A loop over cells that leaves 0 where was summed, and has taken what was there if it @p looks.
Entry clear(bool looks) {
  int n_values = 0;
  ir::Loop made = lower::testing::make_loop_of(
      "clear", {direct("x", Access::write, 1, p), direct("y", Access::write, 1, r)}, {{2, 1}},
      [&](int c) {
        const bool takes = looks && n_values++ == 0;
        return takes ? lower::testing::entry_of("y", c) : lower::testing::literal("0.0");
      });
  std::get<ir::DirectDat>(made.args[1]).access = Access::rw;
  made.set = cells;
  auto kernel = std::make_shared<kernel::Kernel>(*made.members[0].kernel);
  kernel->body =
      kernel::infer_types(std::move(*kernel->body));  // or nobody knows what a scalar holds
  made.members[0].kernel = std::move(kernel);
  return entry(std::move(made));
}

Entry take_and_clear() {
  return clear(/*looks=*/true);
}

TEST(Schedule, SumsStartWhereZerosWereLeft) {
  const Schedule found = schedule({sum_q(), take_and_clear(), sum_q(), take_and_clear()}, {});
  ASSERT_EQ(loops_of(found), (Groups{{0, 1}, {2, 3}}));
  EXPECT_TRUE(found.steps[0].zeroed.empty());
  EXPECT_EQ(found.steps[0].dropped, (std::vector<int>{2}));
  EXPECT_EQ(found.steps[1].zeroed, (std::vector<int>{2}));
  EXPECT_TRUE(found.steps[1].dropped.empty());
  const Schedule without =
      schedule({sum_q(), take_and_clear(), sum_q(), take_and_clear()}, {.zero = false});
  EXPECT_TRUE(without.steps[1].zeroed.empty());
}

TEST(Schedule, ZerosThatSomebodyLooksAtAreStored) {
  const Entry look = entry(
      loop_over(edges + 1, "look",
                {indirect("x", Access::read, 0, 1, r), direct("z", Access::write, 1, {3, 3})}));
  const Schedule found = schedule({sum_q(), take_and_clear(), look, sum_q(), take_and_clear()}, {});
  ASSERT_EQ(loops_of(found), (Groups{{0, 1}, {2}, {3, 4}}));
  EXPECT_TRUE(found.steps[0].dropped.empty());  // the others look at it
  EXPECT_EQ(found.steps[2].zeroed, (std::vector<int>{2}));
}

TEST(Schedule, AnActionThatZeroesIsLeftOutWhereNobodySeesIt) {
  const Entry zero = action({{r, true}}, true);
  const Schedule found = schedule({change_q(), zero, sum_q(), take_and_clear()}, {});
  ASSERT_EQ(loops_of(found), (Groups{{0}, {2, 3}}));
  EXPECT_EQ(found.steps[1].zeroed, (std::vector<int>{2}));
  // somebody looks first; or the action sets something else
  EXPECT_EQ(schedule({zero, take_and_clear(), sum_q(), take_and_clear()}, {}).steps.size(), 3U);
  EXPECT_EQ(schedule({zero, clear(/*looks=*/false), sum_q(), take_and_clear()}, {}).steps.size(),
            2U);
  const Schedule set = schedule({change_q(), action({{r, true}}), sum_q(), take_and_clear()}, {});
  EXPECT_EQ(loops_of(set), (Groups{{0}, {1}, {2, 3}}));
  EXPECT_TRUE(set.steps.back().zeroed.empty());
}

/// A loop over cells that sums into a Global, which lies where `p` does elsewhere.
Entry total_of_q(Access access = Access::inc) {
  lower::testing::NamedArg sum = lower::testing::global_reduce("s", access);
  std::get<ir::GlobalReduce>(sum.arg).alias = p;
  return entry(loop_over(cells, "total", {direct("x", Access::read, 1, q), sum}));
}

/// One loop uses `r`, one sums `q` into a Global, and one changes `r` by that sum.
std::vector<Entry> around_a_sum() {
  const auto sum = [](const NamedArg& arg) {
    NamedArg made = arg;
    std::visit([](auto& node) { node.alias = p; }, made.arg);
    return made;
  };
  constexpr ir::Alias v{3, 3};
  return {entry(loop_over(cells, "use",
                          {direct("x", Access::read, 1, r), direct("y", Access::rw, 1, v)})),
          entry(loop_over(cells, "add",
                          {direct("x", Access::read, 1, q),
                           sum(lower::testing::global_reduce("s", Access::inc))})),
          entry(loop_over(cells, "turn",
                          {direct("x", Access::rw, 1, r), sum(lower::testing::global_read("s"))}))};
}

TEST(Schedule, ALoopGoesWhereItSharesMost) {
  // `use` joined `add` before it was known that `turn` has its values
  EXPECT_EQ(loops_of(schedule(around_a_sum(), {})), (Groups{{1}, {0, 2}}));
  EXPECT_EQ(loops_of(schedule(around_a_sum(), {.fuse = false})), (Groups{{0}, {1}, {2}}));
}

TEST(Schedule, ALoopDoesNotGoToLoopsOverAPart) {
  std::vector<Entry> chain = around_a_sum();
  chain[2].part = 1;
  EXPECT_EQ(loops_of(schedule(chain, {})), (Groups{{0, 1}, {2}}));
}

TEST(Schedule, ALoopStaysWhereWhatComesBetweenNeedsIt) {
  std::vector<Entry> chain = around_a_sum();
  chain[1].loop.args[0] = direct("x", Access::read, 1, {3, 3}).arg;  // what `use` changes
  EXPECT_EQ(loops_of(schedule(chain, {})), (Groups{{0, 1}, {2}}));
}

TEST(Schedule, ASumIntoAGlobalThatIsSetToZeroBeforeStartsThere) {
  const Entry zero = action({{p, true}}, true);
  const Schedule found = schedule({zero, total_of_q()}, {});
  ASSERT_EQ(loops_of(found), (Groups{{1}}));
  EXPECT_EQ(found.steps[0].zeroed, (std::vector<int>{1}));
  const Schedule without = schedule({zero, total_of_q()}, {.total = false});
  EXPECT_EQ(loops_of(without), (Groups{{0}, {1}}));
  EXPECT_TRUE(without.steps[1].zeroed.empty());
  const Schedule fused = schedule({zero, change_q(), total_of_q(), zero, total_of_q()}, {});
  ASSERT_EQ(loops_of(fused), (Groups{{1, 2}, {4}}));
  EXPECT_EQ(fused.steps[0].zeroed, (std::vector<int>{1}));
  EXPECT_EQ(fused.steps[1].zeroed, (std::vector<int>{1}));
}

TEST(Schedule, ASumIntoAGlobalThatIsOverwrittenUnseenIsNotMade) {
  const Entry zero = action({{p, true}}, true);
  NamedArg read{"s", ir::GlobalRead{DType::float64, 1, p}};
  const Entry look = entry(loop_over(edges, "look", {direct("x", Access::write, 1, r), read}));
  const Schedule found = schedule({zero, total_of_q(), zero, total_of_q()}, {.fuse = false});
  ASSERT_EQ(loops_of(found), (Groups{{1}, {3}}));
  EXPECT_EQ(found.steps[0].dropped, (std::vector<int>{1}));
  EXPECT_TRUE(found.steps[1].dropped.empty());  // it may be seen after the chain
  const Schedule seen = schedule({zero, total_of_q(), look, zero, total_of_q()}, {.fuse = false});
  for (const Step& step : seen.steps) EXPECT_TRUE(step.dropped.empty());
  const Schedule added = schedule({total_of_q(), change_q(), total_of_q()}, {.fuse = false});
  for (const Step& step : added.steps) EXPECT_TRUE(step.dropped.empty());
}

TEST(Schedule, AGlobalIsSetToZeroWhereASumCannotStartThere) {
  const Entry zero = action({{p, true}}, true);
  EXPECT_EQ(schedule({action({{p, true}}), total_of_q()}, {}).steps.size(), 2U);
  EXPECT_EQ(schedule({zero, total_of_q(Access::min)}, {}).steps.size(), 2U);
  Entry empty = total_of_q();
  empty.is_empty = true;  // it would leave the Global as it is
  EXPECT_EQ(schedule({zero, empty}, {}).steps.size(), 2U);
  Entry alone = total_of_q();
  alone.why_alone = "it runs on lanes";
  EXPECT_EQ(schedule({zero, alone}, {}).steps.size(), 2U);
  // the second of two sums adds to the first
  const Schedule twice = schedule({zero, total_of_q(), change_q(), total_of_q()}, {.fuse = false});
  ASSERT_EQ(loops_of(twice), (Groups{{1}, {2}, {3}}));
  EXPECT_EQ(twice.steps[0].zeroed, (std::vector<int>{1}));
  EXPECT_TRUE(twice.steps[2].zeroed.empty());
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

/// `y = x`, item by item.
Entry copy_of(const ir::Alias& to, const ir::Alias& from) {
  ir::Loop made = lower::testing::make_loop_of(
      "keep", {direct("y", Access::write, 1, to), direct("x", Access::read, 1, from)}, {{2, 1}},
      [](int c) { return lower::testing::entry_of("x", c); });
  made.set = cells;
  return entry(std::move(made));
}

constexpr ir::Alias old{3, 3};

/// A stage of a time step: sums of q, and q from its old values and them.
std::vector<Entry> stage() {
  Entry step = entry(loop_over(cells, "step",
                               {direct("x", Access::write, 1, q), direct("y", Access::read, 1, r),
                                direct("z", Access::read, 1, old)}));
  return {sum_q(), step};
}

std::vector<Entry> stages(const std::vector<Entry>& between) {
  std::vector<Entry> out = stage();
  out.push_back(copy_of(old, q));
  for (const std::vector<Entry>& more : {stage(), between, stage(), {copy_of(old, q)}}) {
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

const Decision& about_copies(const Schedule& schedule) {
  return *std::ranges::find(schedule.decisions, "copy", &Decision::pass);
}

TEST(Schedule, CopiesAreReadWhereTheyWereMadeFrom) {
  const Schedule found = schedule(stages({}), {});
  ASSERT_EQ(loops_of(found), (Groups{{0, 1, 2}, {3, 4}, {5, 6, 7}}));
  EXPECT_EQ(found.steps[0].dropped, (std::vector<int>{3}));
  // q itself is what the next step starts from, and its second buffer what the one after finds
  EXPECT_EQ(found.steps[1].redirected, (std::vector<Redirected>{{4, 2, 2, 1, false}}));
  EXPECT_EQ(found.steps[2].redirected, (std::vector<Redirected>{{6, 2, 2, 1, true}}));
  EXPECT_TRUE(about_copies(found).applied);
  EXPECT_EQ(found.decisions.back().why,
            "it may be seen after the chain; make the copy within a repeated block, or overwrite "
            "it there");
  const Schedule without = schedule(stages({}), {.copy = false});
  EXPECT_TRUE(without.steps[1].redirected.empty());
}

TEST(Schedule, CopiesAreMadeWhereWhatWasCopiedIsLost) {
  const auto why = [](const std::vector<Entry>& between) {
    return about_copies(schedule(stages(between), {})).why;
  };
  EXPECT_EQ(why({action({{q, true}})}),
            "what was copied is overwritten before; read the copy earlier");
  EXPECT_EQ(why({entry(loop_over(cells, "more", {direct("x", Access::rw, 1, old)}))}),
            "what was copied is changed in the same function; copy it later");
  EXPECT_EQ(why({action({{old, false}})}),
            "its reader runs alone; put it behind a loop over the same Set");
  std::vector<Entry> alone = stages({});
  alone[2].why_alone = "its strategy was asked for";
  EXPECT_EQ(about_copies(schedule(alone, {})).why,
            "the loop that makes it runs alone; put it beside a loop over the same Set");
}

TEST(Schedule, OfAChainOfCopiesOneIsMade) {
  // what is read in the place of `old` must be there
  std::vector<Entry> chain{
      change_q(),
      copy_of(old, q),
      copy_of(p, old),
      change_q(),
      entry(loop_over(cells, "use",
                      {direct("x", Access::write, 1, r), direct("y", Access::read, 1, p)})),
      copy_of(old, r),
      copy_of(p, r)};
  for (const Step& step : schedule(chain, {}).steps) EXPECT_TRUE(step.redirected.empty());
}

TEST(Schedule, ActionsKeepTheirPlace) {
  const Entry zero = action({{q, true}});
  EXPECT_EQ(loops_of(schedule({change_q(), zero, change_q()}, {})), (Groups{{0}, {1}, {2}}));
  EXPECT_EQ(loops_of(schedule({make_p_of_q(), action({{r, true}}), change_q()}, {})),
            (Groups{{0, 2}, {1}}));
}

}  // namespace
}  // namespace op2::chain
