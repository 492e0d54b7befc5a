// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "loops.hpp"

namespace op2::lower {
namespace {

using testing::direct;
using testing::indirect;
using testing::lowered;
using testing::make_loop;
using testing::names_of;

kir::Module staged(const ir::Loop& loop) {
  return lowered(loop, Strategy::block, testing::grid, Stage::layout);
}

ir::Loop flux_loop() {
  return make_loop({indirect("q", Access::read, 0, 2), indirect("r", Access::inc, 0, 2),
                    testing::global_reduce("total", Access::inc)},
                   testing::edges_to_nodes());
}

TEST(StageBlocks, ParametersAreInTheOrderOfDocument003) {
  const ir::Loop loop = testing::with_consts(flux_loop(), {{"gam", DType::float64, 1}});
  const kir::Module module = lowered(loop, Strategy::block, testing::grid, Stage::legalise);
  EXPECT_EQ(names_of(module.functions.front().parameters),
            (std::vector<std::string>{"q", "r", "total_partial", "gam", "q_map", "r_ind_map",
                                      "r_loc_map", "ind_sizes", "ind_offs", "blkmap", "offset",
                                      "nelems", "nthrcol", "thrcol", "block_offset", "slot"}));
}

const abi::StagedPlan& staged_plan_of(const kir::Module& module) {
  return std::get<abi::StagedPlan>(module.plan);
}

TEST(StageBlocks, PlanSaysWhatIsStaged) {
  const kir::Module module = staged(flux_loop());
  EXPECT_EQ(module.plan, kir::PlanSpec(abi::StagedPlan{{0}, 256, {0}}));
  EXPECT_EQ(module.items, kir::Items::blocks);
}

TEST(StageBlocks, ColoursDifferByTheirBlockOffsetAlone) {
  const std::string text = kir::dump(staged(flux_loop()));
  EXPECT_TRUE(testing::contains(text,
                                "  for serial colour in [0, sizes[0])\n"
                                "    decl const int64 first = "))
      << text;
  EXPECT_TRUE(testing::contains(
                  text, "    launch wrap_res over (last - first) blocks (q, r, total, x_map, ") ||
              testing::contains(
                  text, "    launch wrap_res over (last - first) blocks (q, r, total, q_map, "))
      << text;
  EXPECT_TRUE(testing::contains(text, "nthrcol, thrcol, first)\n")) << text;
}

TEST(StageBlocks, IncrementsAreSummedInSharedMemoryByThreadColours) {
  const std::string text = kir::dump(staged(flux_loop()));
  EXPECT_TRUE(testing::contains(text, "  decl shared float64 r_shared[1024]\n")) << text;
  EXPECT_TRUE(testing::contains(text, "    r_shared[i] = 0\n  barrier\n")) << text;
  EXPECT_TRUE(testing::contains(text,
                                "      if (own_colour == colour)\n"
                                "        scatter float64 r_shared[r_loc_map[n] x2] x2 += r_pack\n"
                                "      barrier\n"))
      << text;
  EXPECT_TRUE(
      testing::contains(text,
                        "    r[((long(r_ind_map[(ind_offs[block] + (i / 2))]) * 2) + (i % 2))] += "
                        "r_shared[i]\n"))
      << text;
}

TEST(StageBlocks, MinimaStartAtTheirTargets) {
  const std::string text =
      kir::dump(staged(make_loop({indirect("m", Access::min, 0)}, testing::edges_to_nodes())));
  EXPECT_TRUE(
      testing::contains(text, "    m_shared[i] = m[long(m_ind_map[(ind_offs[block] + i)])]\n"))
      << text;
  EXPECT_TRUE(testing::contains(text, "] min= m_shared[i]\n")) << text;
}

TEST(StageBlocks, WhatIsOverwrittenRunsWholeInTurns) {
  const kir::Module module =
      staged(make_loop({indirect("w", Access::rw, 0)}, testing::edges_to_nodes()));
  const std::string text = kir::dump(module);
  EXPECT_TRUE(staged_plan_of(module).maps.empty());
  EXPECT_FALSE(testing::contains(text, "shared")) << text;
  EXPECT_TRUE(testing::contains(text,
                                "      if (own_colour == colour)\n"
                                "        decl float64 w_pack[2]\n"
                                "        gather w_pack = float64 w[w_map[n] x2] x1\n"
                                "        kernel(w_pack)\n"
                                "        scatter float64 w[w_map[n] x2] x1 = w_pack\n"
                                "      barrier global\n"))
      << text;
}

TEST(StageBlocks, ElementsOfASubsetTakeTurns) {
  ir::Loop loop = make_loop({indirect("r", Access::inc, 0)}, testing::edges_to_nodes());
  loop.iteration.subset = true;
  const kir::Module module = staged(loop);
  EXPECT_TRUE(staged_plan_of(module).maps.empty());
  const std::string text = kir::dump(module);
  EXPECT_TRUE(testing::contains(text,
                                "    decl const int64 own_colour = select((position < last), "
                                "thrcol[position], -1)\n"))
      << text;
  EXPECT_TRUE(testing::contains(text,
                                "      if (own_colour == colour)\n"
                                "        decl const int64 n = long(subset[position])\n"))
      << text;
}

TEST(StageBlocks, SumsOverFixedChunksWithoutRaces) {
  const ir::Loop loop =
      make_loop({direct("x", Access::read), testing::global_reduce("s", Access::inc)});
  const Options fixed{.semantics = {.deterministic = true}};
  EXPECT_EQ(kir::dump(lowered(loop, Strategy::block, testing::grid, Stage::narrow, fixed)),
            kir::dump(lowered(loop, Strategy::direct, testing::grid, Stage::narrow, fixed)));
}

TEST(StageBlocks, BlocksShrinkUntilTheirIncrementsFit) {
  const kir::Module some = staged(make_loop({indirect("r", Access::inc, 0, 8)}, {{4, 0}}));
  EXPECT_EQ(staged_plan_of(some).block_size, 64);
  const kir::Module large = staged(make_loop({indirect("r", Access::inc, 0, 64)}, {{4, 0}}));
  EXPECT_EQ(large.plan, kir::PlanSpec(abi::StagedPlan{{0}, 256, {}}));
}

TEST(StageBlocks, TwoMapsAreTwoLists) {
  const kir::Module module = staged(
      make_loop({indirect("a", Access::inc, 0, 1, {0, 0}), indirect("b", Access::inc, 1, 1, {0, 0}),
                 indirect("c", Access::inc, 0, 1, {1, 1})},
                {{2, 0}, {3, 0}}));
  EXPECT_EQ(staged_plan_of(module).maps, (std::vector<int>{0, 1, 0}));
  EXPECT_TRUE(testing::contains(kir::dump(module), "ind_sizes[((block * 3) + 1)]"));
}

}  // namespace
}  // namespace op2::lower
