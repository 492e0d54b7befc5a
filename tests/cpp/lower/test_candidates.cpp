// SPDX-License-Identifier: BSD-3-Clause
#include "lower/candidates.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/error.hpp"
#include "loops.hpp"
#include "lower/strategy.hpp"
#include "typed_loops.hpp"

namespace op2::lower {
namespace {

using testing::direct;
using testing::edge_loop;
using testing::global_reduce;
using testing::indirect;
using testing::make_loop;
using testing::no_facts;
using testing::threads;

constexpr Facts gpu{.lanes = Lanes::grid, .atomics = true, .warp = 32};

std::vector<Strategy> possible(const std::vector<Candidate>& all) {
  std::vector<Strategy> out;
  for (const Candidate& one : all) {
    if (one.is_possible) out.push_back(one.strategy);
  }
  return out;
}

TEST(Candidates, AreAllStrategiesAndTheRulesChoiceIsFirst) {
  const std::vector<ir::Loop> loops{
      edge_loop(), make_loop({direct("x", Access::read), direct("y", Access::write)}),
      make_loop({indirect("y", Access::inc, 0)}, testing::edges_to_nodes())};
  const Options usual;
  const Options deterministic{.semantics = {.deterministic = true}};
  for (const ir::Loop& loop : loops) {
    for (const Facts& facts : {testing::one_lane, threads, gpu, gpu.on(true, true)}) {
      for (const Options& options : {usual, deterministic}) {
        const auto found = candidates(loop, facts, no_facts(loop), options);
        EXPECT_EQ(found.size(), std::size(strategy_names));
        EXPECT_EQ(found.front().strategy, choose(loop, facts, no_facts(loop), options).strategy);
        EXPECT_EQ(found.front().why, choose(loop, facts, no_facts(loop), options).why);
        for (const Candidate& one : found) {
          EXPECT_EQ(one.is_possible,
                    applicable(one.strategy, loop, facts, no_facts(loop), options).ok);
          EXPECT_TRUE(one.is_possible || !one.why.empty());
        }
      }
    }
  }
}

TEST(Candidates, TheOthersFollowByTheirBytes) {
  const ir::Loop loop =
      make_loop({indirect("x", Access::read, 0, 3), indirect("y", Access::inc, 0)},
                testing::edges_to_nodes());
  const auto found = candidates(loop, threads, no_facts(loop), {});
  EXPECT_EQ(possible(found), (std::vector{Strategy::block, Strategy::atomic, Strategy::colour,
                                          Strategy::scratch, Strategy::owner}));
  ASSERT_EQ(found.size(), 7U);
  EXPECT_EQ(found[5].strategy, Strategy::direct);
  EXPECT_EQ(found[6].strategy, Strategy::team);
  EXPECT_FALSE(found[5].is_possible || found[6].is_possible);
}

TEST(Cost, CountsWhatEachStrategyMoves) {
  // two targets: 6 values read, 2 added to (loaded and stored), 2 entries of the Map
  const ir::Loop loop = make_loop({indirect("x", Access::read, 0, 3), indirect("y", Access::inc, 0),
                                   global_reduce("sum", Access::inc)},
                                  testing::edges_to_nodes());
  const auto bytes = [&loop](Strategy strategy, const Options& options = {}) {
    return cost_of(strategy, loop, no_facts(loop), options).bytes;
  };
  const std::int64_t base = 6 * 8 + 2 * 2 * 8 + 2 * 4;
  EXPECT_EQ(bytes(Strategy::atomic), base);
  EXPECT_EQ(bytes(Strategy::block), base);
  EXPECT_EQ(bytes(Strategy::colour), base + 4);
  EXPECT_EQ(bytes(Strategy::colour, {.widths = {.element_bytes = 8}}), base + 8);
  EXPECT_EQ(bytes(Strategy::scratch), base + 2 * 8 + 2 * 4);
  EXPECT_EQ(bytes(Strategy::owner), 2 * (6 * 8 + 2 * 4 + 4) + 2 * 2 * 8);
}

TEST(Cost, OwnersComputeAnElementForEachTarget) {
  const ir::Loop loop = testing::typed(edge_loop());
  const auto operations = [&loop](Strategy strategy) {
    return cost_of(strategy, loop, no_facts(loop), {}).operations;
  };
  EXPECT_GT(operations(Strategy::block), 0);
  EXPECT_EQ(operations(Strategy::owner), 2 * operations(Strategy::block));
}

}  // namespace
}  // namespace op2::lower
