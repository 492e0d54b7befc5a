// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_loop.hpp"

#include <gtest/gtest.h>

#include "typed_loops.hpp"

namespace op2::lower::testing {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(LanesLoop, TakesSeveralElementsAPass) {
  const std::string text = strategy_dump(typed(edge_loop()), Strategy::direct, one_lane, on(4));
  EXPECT_TRUE(has(text, "for serial n in [begin, end) by 4")) << text;
  EXPECT_TRUE(has(text, "gather lanes of float64 x_pack[1] x1, rows at x[")) << text;
  EXPECT_TRUE(has(text, "for serial lane in [0, 4)")) << text;
  EXPECT_TRUE(has(text, "if (lane < live)")) << text;
}

TEST(LanesLoop, RowsOfSeveralComponentsAreTurnedBackAsWholes) {
  const ir::Loop loop = make_loop({indirect("y", Access::inc, 0, 4)}, edges_to_nodes());
  const std::string text = strategy_dump(typed(loop), Strategy::direct, one_lane, on(4));
  EXPECT_TRUE(has(text, "y_pack_rows = rows of y_pack[0] x4")) << text;
  EXPECT_TRUE(has(text, "x4 += y_pack_rows[lane]")) << text;
}

TEST(LanesLoop, LongMapsGoThroughLoops) {
  const ir::Loop loop =
      make_loop({indirect("x", Access::read, 0), indirect("y", Access::inc, 0)}, {{20, 0}});
  const std::string text = strategy_dump(typed(loop), Strategy::direct, one_lane, on(4));
  EXPECT_TRUE(has(text, "for serial i in [0, 20)\n      gather lanes")) << text;
  EXPECT_TRUE(has(text, "+= y_pack[i][lane]")) << text;
}

TEST(LanesLoop, FourRowsOfOneComponentGoThroughALoopAndFourOfTwoDoNot) {
  const ir::Loop loop =
      make_loop({indirect("x", Access::read, 0), indirect("z", Access::read, 0, 2)}, {{4, 0}});
  const std::string text = strategy_dump(typed(loop), Strategy::direct, one_lane, on(4));
  EXPECT_TRUE(has(text, "for serial i in [0, 4)\n      gather lanes of float64 x_pack[i]")) << text;
  EXPECT_TRUE(has(text, "gather lanes of float64 z_pack[6] x2")) << text;
}

TEST(LanesLoop, ArgumentsThroughOneMapLookItUpOnce) {
  const ir::Loop loop =
      make_loop({indirect("x", Access::read, 0), indirect("y", Access::inc, 0)}, edges_to_nodes());
  const std::string text = strategy_dump(typed(loop), Strategy::direct, one_lane, on(4));
  EXPECT_TRUE(has(text, "x_map[")) << text;
  EXPECT_FALSE(has(text, "y_map[")) << text;
}

TEST(LanesLoop, TensorsEnterMatricesLaneByLane) {
  const ir::MatArg mat{DType::float64, 1, 1, Access::inc, 0, 0, false, false, own_data};
  const ir::Loop loop = make_loop({{"A", mat}}, edges_to_nodes());
  const std::string text = strategy_dump(typed(loop), Strategy::direct, one_lane, on(4));
  EXPECT_TRUE(has(text, "decl float64x4 A_pack[4]")) << text;
  EXPECT_TRUE(has(text, "+= A_pack[3][lane]")) << text;
}

ir::Loop column_loop_of(ir::Layers layers) {
  ir::Loop loop = make_loop({indirect("x", Access::read, 0), indirect("y", Access::inc, 0)},
                            {{2, 0, 1, {{0, 1, 0, 0}, {0, 1, 0, 1}}}});
  loop.iteration.layers = layers;
  return typed(loop);
}

TEST(LanesLoop, LanesLieSideBySideInColumnsOfEqualHeight) {
  const std::string text =
      strategy_dump(column_loop_of(ir::Layers::constant), Strategy::direct, one_lane, on(2));
  EXPECT_TRUE(has(text, "for serial row in [(first_cell / n_cells), past_row) by live")) << text;
  EXPECT_FALSE(has(text, "level1")) << text;
  // rows are known by column; what a cell adds is one in `step`
  EXPECT_TRUE(has(text, "decl const float64* x_rows[4]")) << text;
  EXPECT_TRUE(has(text, "decl float64* y_rows[4]")) << text;
  EXPECT_TRUE(has(text, "x_pack[0] x1, rows at (x_rows[0] + step), (x_rows[1] + step)")) << text;
  EXPECT_TRUE(has(text, "y_row0 = (y_rows[lane] + step)")) << text;
  EXPECT_TRUE(has(text, "y_row0[0] += y_pack[0][lane]")) << text;
}

TEST(LanesLoop, GatherInstructionsAskForOffsetsInColumns) {
  Options options = on(2);
  options.gather_bytes = 16;
  const std::string text =
      strategy_dump(column_loop_of(ir::Layers::constant), Strategy::direct, one_lane, options);
  EXPECT_FALSE(has(text, "x_rows")) << text;
  EXPECT_TRUE(has(text, "rows at x[")) << text;
  EXPECT_TRUE(has(text, "decl const int64 level = ")) << text;
}

TEST(LanesLoop, CellsOfOtherColumnsAreFoundLaneByLane) {
  const std::string text =
      strategy_dump(column_loop_of(ir::Layers::variable), Strategy::direct, one_lane, on(2));
  EXPECT_TRUE(has(text, "level1 = ")) << text;
  EXPECT_TRUE(has(text, "level_lane")) << text;
  const std::string coloured =
      strategy_dump(column_loop_of(ir::Layers::constant), Strategy::colour, threads, on(2));
  EXPECT_TRUE(has(coloured, "level1 = ")) << coloured;
}

TEST(LanesLoop, ServesEveryStrategyThatWalksElements) {
  for (const Strategy strategy :
       {Strategy::block, Strategy::colour, Strategy::atomic, Strategy::scratch}) {
    const std::string text = strategy_dump(typed(edge_loop()), strategy, threads, on(8));
    EXPECT_TRUE(has(text, "by 8")) << name_of(strategy) << text;
    EXPECT_TRUE(has(text, "gather lanes")) << name_of(strategy) << text;
  }
}

TEST(LanesLoop, GlobalsKeepOneSumALane) {
  const ir::Loop loop = make_loop({direct("x", Access::read), global_reduce("sum", Access::inc)});
  const std::string text = strategy_dump(typed(loop), Strategy::direct, one_lane, on(4));
  EXPECT_TRUE(has(text, "sum_lanes += sum_pack x1, live live lanes")) << text;
  EXPECT_TRUE(has(text, "sum += lanes of sum_lanes x1")) << text;
}

TEST(LanesLoop, OwnersGoThroughTheIncidencesOfTheirTargets) {
  Options in_turn = on(4);
  in_turn.by_slot = false;
  const std::string text = strategy_dump(typed(edge_loop()), Strategy::owner, threads, in_turn);
  EXPECT_TRUE(has(text, "for serial k in [incidence_offset[begin], incidence_offset[end]) by 4"))
      << text;
  EXPECT_TRUE(has(text, "decl const int64 o_lane = ")) << text;
  EXPECT_TRUE(has(text, "y[(target_lane + c)] += y_pack[(o_lane + c)][lane]")) << text;
}

TEST(LanesLoop, TargetsSideBySideStoreWhatIsTheirs) {
  const std::string text = strategy_dump(typed(edge_loop()), Strategy::owner, threads, on(4));
  EXPECT_TRUE(has(text,
                  "for serial group in [begin, end)\n"
                  "    decl const int64 live = min(4, (sizes[0] - (group * 4)))\n"))
      << text;
  EXPECT_TRUE(has(text, "    decl float64x4 y_own[1]\n")) << text;
  EXPECT_TRUE(has(text, "decl const int64 at3 = ((k * 4) + 3)")) << text;
  EXPECT_TRUE(has(text, "    for serial lane in [0, 4)\n      if (lane < live)\n")) << text;
  EXPECT_TRUE(has(text, "y[target_lane] = y_own[0][lane]")) << text;
  EXPECT_FALSE(has(text, "vector")) << text;
}

constexpr Facts processor =
    Facts{.lanes = Lanes::grid, .atomics = true}.on(/*is_processor=*/true, /*has_float64=*/true);

TEST(LanesLoop, OnAProcessorsGridOwnersComeInGroups) {
  Options in_turn = on(4);
  in_turn.by_slot = false;
  const std::string text = strategy_dump(typed(edge_loop()), Strategy::owner, processor, in_turn);
  EXPECT_TRUE(has(text,
                  "for grid t in [begin, end) by 64\n"
                  "    for serial k in [incidence_offset[t], "
                  "incidence_offset[min((t + 64), end)]) by 4"))
      << text;
}

TEST(LanesLoop, OnAProcessorsGridTargetsSideBySideComeInRuns) {
  const std::string text = strategy_dump(typed(edge_loop()), Strategy::owner, processor, on(4));
  EXPECT_TRUE(has(text, "for grid k in [begin, end) by 16\n    for serial group in [k, ")) << text;
  EXPECT_TRUE(has(text, "y_own += y_pack[o] x1 where")) << text;
}

TEST(LanesLoop, MapsStoredByColumnMayBeLongerThanNarrowIndicesReach) {
  Options narrow = on(4);
  narrow.widths.index_bytes = 4;
  const kir::Module module =
      lowered(typed(edge_loop()), Strategy::owner, processor, Stage::narrow, narrow);
  EXPECT_TRUE(has(kir::dump(module), "decl const int64 at3")) << kir::dump(module);
}

TEST(LanesLoop, OnAProcessorsGridAThreadTakesABlock) {
  const std::string text = strategy_dump(typed(edge_loop()), Strategy::block, processor, on(4));
  EXPECT_TRUE(has(text, "for serial n in [block_offset[block], block_offset[(block + 1)]) by 4"))
      << text;
}

TEST(LanesLoop, ExtremaOfAllElementsStartFromWhatTheGlobalIs) {
  const ir::Loop loop = make_loop({direct("x", Access::read), global_reduce("m", Access::max)});
  const std::string text = strategy_dump(typed(loop), Strategy::direct, processor, on(4));
  EXPECT_TRUE(has(text, "for serial lane in [0, 4)\n        m_pack[c][lane] = m[c]")) << text;
  EXPECT_TRUE(has(text, "m max= lanes of m_pack x1")) << text;
}

std::string refusal(const ir::Loop& loop, Strategy strategy, const Facts& facts = one_lane) {
  const std::vector<MapFacts> maps = no_facts(loop);
  return why_not_on_lanes({loop, strategy, facts, maps, on(4)});
}

TEST(LanesLoop, RefusesWhatElementsShare) {
  EXPECT_EQ(refusal(typed(edge_loop()), Strategy::direct), "");
  const ir::Loop shared = make_loop({indirect("y", Access::rw, 0)}, edges_to_nodes());
  EXPECT_TRUE(has(refusal(typed(shared), Strategy::direct), "RW through a Map"))
      << "shared targets";
  EXPECT_EQ(refusal(typed(shared), Strategy::colour, threads), "");
  const ir::Loop twice =
      make_loop({direct("x", Access::read, 1, {0, 0}), direct("y", Access::write, 1, {0, 0})});
  EXPECT_TRUE(has(refusal(typed(twice), Strategy::direct), "share written memory"));
  EXPECT_TRUE(has(refusal(with_opaque_kernel(edge_loop()), Strategy::direct), "opaque"));
}

}  // namespace
}  // namespace op2::lower::testing
