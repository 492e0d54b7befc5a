// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "loops.hpp"
#include "lower/passes.hpp"

namespace op2::lower {
namespace {

using testing::edge_loop;
using testing::global_reduce;
using testing::indirect;
using testing::lowered;
using testing::make_loop;
using testing::one_lane;
using testing::strategy_dump;
using testing::threads;

std::vector<kir::Parameter> plan_arrays(const kir::Module& module) {
  std::vector<kir::Parameter> found;
  for (const kir::Parameter& parameter : module.argv) {
    if (parameter.role == kir::Role::plan) found.push_back(parameter);
  }
  return found;
}

std::string launch_of(const std::string& dump) {
  return dump.substr(dump.find("launch "));
}

TEST(ColourBlocks, ColoursInOrderBlocksOfAColourAtOnce) {
  EXPECT_EQ(launch_of(strategy_dump(edge_loop(), Strategy::block)),
            "launch op2_launch_res(const float64* x, float64* y, const int32* x_map, "
            "const int64* sizes, const int64* colour_offset, const int64* block_of, "
            "const int64* block_offset)\n"
            "  region\n"
            "    for serial colour in [0, sizes[0])\n"
            "      decl const int64 first = select((colour_offset[colour] < begin), begin, "
            "colour_offset[colour])\n"
            "      decl const int64 last = min(colour_offset[(colour + 1)], end)\n"
            "      for thread k in [first, last)\n"
            "        decl const int64 block = block_of[k]\n"
            "        call wrap_res(block_offset[block], block_offset[(block + 1)], x, x_map, y, "
            "x_map)\n");
}

TEST(ColourBlocks, AProcessorsThreadTakesOneBlockAfterTheOther) {
  const Facts processor =
      Facts{.lanes = Lanes::grid, .atomics = true}.on(/*is_processor=*/true, /*has_float64=*/true);
  const std::string text = strategy_dump(edge_loop(), Strategy::block, processor);
  EXPECT_NE(text.find("  if (@lane == 0)\n"
                      "    for block k in [begin, end)\n"
                      "      decl const int64 block = block_of[k]\n"
                      "      for serial n in [block_offset[block], block_offset[(block + 1)])\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("    launch wrap_res over (last - first) blocks ("), std::string::npos)
      << text;
  const kir::Module module = lowered(edge_loop(), Strategy::block, processor);
  EXPECT_EQ(module.items, kir::Items::blocks);
  EXPECT_TRUE(std::holds_alternative<abi::BlocksPlan>(module.plan));
}

TEST(ColourBlocks, AsksForBlocksThatDoNotConflict) {
  const kir::Module module = lowered(edge_loop(), Strategy::block);
  EXPECT_EQ(module.items, kir::Items::blocks);
  EXPECT_EQ(module.plan, kir::PlanSpec(abi::BlocksPlan{std::vector{0}}));
  EXPECT_EQ(module.scratch.chunk, -1);
  ASSERT_EQ(plan_arrays(module).size(), 4U);
  for (const kir::Parameter& array : plan_arrays(module)) {
    EXPECT_EQ(array.type.dtype, DType::int64) << array.name;
  }
}

TEST(ColourBlocks, OnlyMapsThatAreWrittenThroughConflict) {
  const ir::Loop loop =
      make_loop({indirect("x", Access::read, 0), indirect("y", Access::inc, 1)}, {{2, 0}, {2, 1}});
  EXPECT_EQ(lowered(loop, Strategy::block).plan, kir::PlanSpec(abi::BlocksPlan{std::vector{1}}));
  EXPECT_EQ(lowered(loop, Strategy::colour).plan, kir::PlanSpec(abi::ColoursPlan{{1}}));
}

TEST(ColourBlocks, OverlappingMemoryIsOneBlock) {
  const ir::Loop loop = make_loop(
      {indirect("x", Access::read, 0, 1, {0, 0}), indirect("y", Access::inc, 0, 1, {1, 0})},
      testing::edges_to_nodes());
  EXPECT_EQ(lowered(loop, Strategy::block).plan, kir::PlanSpec(abi::BlocksPlan{std::nullopt}));
}

TEST(ColourBlocks, EachBlockReducesIntoASlotOfItsOwn) {
  const ir::Loop loop = make_loop({indirect("y", Access::inc, 0), global_reduce("s", Access::inc)},
                                  testing::edges_to_nodes());
  const std::string launch = launch_of(strategy_dump(loop, Strategy::block));
  EXPECT_NE(launch.find("decl const int64 n_slots = (end - begin)\n"), std::string::npos) << launch;
  EXPECT_NE(launch.find("y, y_map, &s_partial[((k - begin) * 8)])\n"), std::string::npos) << launch;
  EXPECT_EQ(lowered(loop, Strategy::block).scratch, (kir::ScratchSpec{64, 0, -1}));
}

TEST(ColourElements, TheWrapperWalksAListOfElements) {
  EXPECT_EQ(strategy_dump(make_loop({indirect("y", Access::inc, 0)}, testing::edges_to_nodes()),
                          Strategy::colour, one_lane),
            "function wrap_res(float64* y, const int32* y_map, const int32* element)\n"
            "  for serial k in [begin, end)\n"
            "    decl const int64 n = element[k]\n"
            "    decl float64 y_pack[2] = 0\n"
            "    kernel(y_pack)\n"
            "    scatter float64 y[y_map[n] x2] x1 += y_pack\n"
            "launch op2_launch_res(float64* y, const int32* y_map, const int64* sizes, "
            "const int64* colour_offset, const int32* element)\n"
            "  region\n"
            "    for serial colour in [0, sizes[0])\n"
            "      decl const int64 first = select((colour_offset[colour] < begin), begin, "
            "colour_offset[colour])\n"
            "      decl const int64 last = min(colour_offset[(colour + 1)], end)\n"
            "      call wrap_res(first, last, y, y_map, element)\n");
}

TEST(ColourElements, SpreadsOneColourOverTheThreads) {
  const std::string launch = launch_of(strategy_dump(edge_loop(), Strategy::colour));
  EXPECT_NE(launch.find("      for thread slot in [0, @threads)\n"
                        "        call wrap_res((first + (((last - first) * slot) / @threads)), "
                        "(first + (((last - first) * (slot + 1)) / @threads)), "),
            std::string::npos)
      << launch;
}

TEST(ColourElements, AsksForColouredElements) {
  const kir::Module module = lowered(edge_loop(), Strategy::colour);
  EXPECT_EQ(module.items, kir::Items::elements);
  EXPECT_EQ(module.plan, kir::PlanSpec(abi::ColoursPlan{{0}}));
  EXPECT_EQ(plan_arrays(module)[2].type.dtype, DType::int32);
  const kir::Module wide = lowered(edge_loop(), Strategy::colour, threads, Stage::narrow,
                                   {.widths = {.element_bytes = 8}});
  EXPECT_EQ(plan_arrays(wide)[2].type.dtype, DType::int64);
}

}  // namespace
}  // namespace op2::lower
