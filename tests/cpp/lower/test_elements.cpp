// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "loops.hpp"
#include "lower/passes.hpp"

namespace op2::lower {
namespace {

using testing::edge_loop;
using testing::indirect;
using testing::lowered;
using testing::make_loop;
using testing::one_lane;
using testing::threads;

/// The synchronisation of each scatter, in order.
std::vector<kir::Sync> syncs(const kir::Module& module) {
  std::vector<kir::Sync> found;
  for (const kir::Function& function : module.functions) {
    testing::for_each_stmt(function.body, [&found](const kir::Stmt& stmt) {
      const auto* scatter = std::get_if<kir::Scatter>(&stmt.node);
      if (scatter != nullptr) found.push_back(scatter->sync);
    });
  }
  return found;
}

TEST(LayOutElements, DirectIsOneWrapperOverEachThreadsRange) {
  EXPECT_EQ(
      testing::strategy_dump(make_loop({testing::direct("x", Access::write)}), Strategy::direct),
      "function wrap_res(float64* x)\n"
      "  for serial n in [begin, end)\n"
      "    kernel(&x[n])\n"
      "launch op2_launch_res(float64* x)\n"
      "  region\n"
      "    for thread slot in [0, @threads)\n"
      "      call wrap_res((begin + (((end - begin) * slot) / @threads)), "
      "(begin + (((end - begin) * (slot + 1)) / @threads)), x)\n");
}

TEST(LayOutElements, NeedsNoPlan) {
  for (const Strategy strategy : {Strategy::direct, Strategy::atomic}) {
    const kir::Module module = lowered(edge_loop(), strategy);
    EXPECT_EQ(module.plan, kir::PlanSpec{});
    EXPECT_EQ(module.items, kir::Items::elements);
    EXPECT_EQ(module.scratch, kir::ScratchSpec{});
  }
}

TEST(LayOutElements, AtomicIsForRacingReductionsOnly) {
  const ir::Loop loop = make_loop(
      {indirect("a", Access::inc, 0), indirect("b", Access::max, 0), indirect("c", Access::inc, 1)},
      {{2, 0}, {1, 1}});
  const std::vector<MapFacts> maps{{}, {.injective = true}};
  kir::Module module;
  (void)lower({loop, Strategy::atomic, threads, maps, {}},
              [&module](Stage stage, const kir::Module& at) {
                if (stage <= Stage::layout) module = at;
              });
  EXPECT_EQ(syncs(module),
            (std::vector<kir::Sync>{kir::Sync::atomic, kir::Sync::atomic, kir::Sync::none}));
}

TEST(LayOutElements, OneLaneNeedsNoAtomics) {
  EXPECT_EQ(syncs(lowered(edge_loop(), Strategy::atomic, {Lanes::one, true}, Stage::layout)),
            (std::vector<kir::Sync>{kir::Sync::none}));
  EXPECT_EQ(syncs(lowered(edge_loop(), Strategy::direct, threads, Stage::layout)),
            (std::vector<kir::Sync>{kir::Sync::none}));
}

TEST(LayOutElements, ReductionsHaveASlotAThreadOrAFixedChunk) {
  const ir::Loop loop =
      make_loop({testing::direct("x", Access::read), testing::global_reduce("s", Access::inc)});
  EXPECT_EQ(lowered(loop, Strategy::direct).scratch, (kir::ScratchSpec{64, 0, 0}));
  EXPECT_EQ(lowered(loop, Strategy::direct, threads, Stage::narrow,
                    {.semantics = {.deterministic = true}})
                .scratch,
            (kir::ScratchSpec{64, 0, Tuning().deterministic_chunk}));
  EXPECT_EQ(lowered(loop, Strategy::direct, one_lane).scratch, kir::ScratchSpec{});
}

// On a GPU

constexpr Facts warps{.lanes = Lanes::grid, .atomics = true, .warp = 32};

kir::Module on_warps(const ir::Loop& loop, const Options& options = {}) {
  return lowered(loop, Strategy::atomic, warps, Stage::layout, options);
}

TEST(LayOutElements, NeighbouringLanesAddToNeighbouringTargets) {
  const ir::Loop loop =
      make_loop({indirect("u", Access::read, 0), indirect("y", Access::inc, 1)}, {{4, 0}, {4, 0}});
  const kir::Module module = on_warps(loop);
  EXPECT_EQ(module.plan, kir::PlanSpec(abi::InterleavedPlan{1}));
  // the order is that of the Maps' rows: the code knows nothing of it
  EXPECT_EQ(kir::dump(module), kir::dump(on_warps(loop, {.tuning = {.interleaved = false}})));
}

TEST(LayOutElements, ElementsKeepTheirOrderWhereAnotherGainsNothing) {
  const auto plan_of = [](const ir::Loop& loop, const Options& options = {}) {
    return on_warps(loop, options).plan;
  };
  const ir::Loop tets = make_loop({indirect("y", Access::inc, 0)}, {{4, 0}});
  const kir::PlanSpec none;
  EXPECT_EQ(plan_of(tets), kir::PlanSpec(abi::InterleavedPlan{0}));
  EXPECT_EQ(plan_of(tets, {.tuning = {.interleaved = false}}), none);
  // two targets, rows that lanes share, values on the elements themselves
  EXPECT_EQ(plan_of(make_loop({indirect("y", Access::inc, 0)}, {{2, 0}})), none);
  EXPECT_EQ(plan_of(make_loop({indirect("y", Access::inc, 0, 2)}, {{4, 0}})), none);
  EXPECT_EQ(plan_of(make_loop({testing::direct("x", Access::read), indirect("y", Access::inc, 0)},
                              {{4, 0}})),
            none);
  EXPECT_EQ(lowered(tets, Strategy::atomic, testing::grid).plan, none);
  // rows of a ragged Map cannot be put in order
  ir::MapRef ragged{most_ragged, 0};
  ragged.ragged = true;
  EXPECT_EQ(plan_of(make_loop({indirect("x", Access::read, 0), indirect("y", Access::inc, 1)},
                              {ragged, {4, 0}})),
            none);
}

constexpr Facts fetching{.lanes = Lanes::grid, .atomics = true, .fetches = true, .fences = true};

std::string text_on_grid(const ir::Loop& loop, const Facts& facts = fetching,
                         const Options& options = {.widths = {.index_bytes = 4}}) {
  return kir::dump(lowered(loop, Strategy::atomic, facts, Stage::expand, options));
}

TEST(LayOutElements, ALaneFetchesItsRowOfAMapOnce) {
  const ir::Loop loop =
      make_loop({indirect("x", Access::read, 0, 2), indirect("y", Access::inc, 0)}, {{2, 0}});
  const std::string text = text_on_grid(loop);
  EXPECT_TRUE(testing::contains(text,
                                "    decl int32 x_map_row[2]\n"
                                "    fetch 2 x_map_row from x_map[(n * 2)]\n"))
      << text;
  EXPECT_TRUE(testing::contains(text, "x_map_row[1]")) << text;
  EXPECT_FALSE(testing::contains(text, "x_map[((")) << text;
  EXPECT_FALSE(testing::contains(text_on_grid(loop, testing::grid), "fetch"));
}

TEST(LayOutElements, RowsOfSeveralWordsAreNotFetched) {
  for (const int arity : {3, 5, 8}) {  // their words would be read from memory several times
    const ir::Loop loop = make_loop({indirect("x", Access::read, 0)}, {{arity, 0}});
    EXPECT_FALSE(testing::contains(text_on_grid(loop), "fetch")) << arity;
  }
}

}  // namespace
}  // namespace op2::lower
