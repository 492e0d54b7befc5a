// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "ir/group.hpp"
#include "kernel/types.hpp"
#include "loops.hpp"

namespace op2::lower {
namespace {

using testing::direct;
using testing::global_reduce;
using testing::lowered;
using testing::make_loop;

constexpr Facts fenced_warps{.lanes = Lanes::grid, .atomics = true, .warp = 32, .fences = true};

/// After the pass, before rows are expanded.
std::string reduced(const ir::Loop& loop, Strategy strategy = Strategy::direct,
                    const Options& options = {}, const Facts& facts = testing::grid) {
  return kir::dump(lowered(loop, strategy, facts, Stage::legalise, options));
}

std::string launches_of(const std::string& text) {
  return text.substr(text.find('\n', text.find("launch op2_")) + 1);
}

ir::Loop summing_loop() {
  return make_loop({direct("x", Access::read), global_reduce("s", Access::inc, 2)});
}

TEST(Reduce, EveryLaneSumsIntoAValueOfItsOwn) {
  const std::string text = reduced(summing_loop());
  EXPECT_TRUE(
      testing::contains(text,
                        "kernel wrap_res(const float64* x, float64* s_partial, int64 begin, "
                        "int64 end, int64 slot)\n"
                        "  decl shared float64 s_tree[512]\n"
                        "  decl float64 s_lane[2] = 0\n"
                        "  for grid n in [begin, end)\n"))
      << text;
  EXPECT_TRUE(testing::contains(text, "    copy 2 of s_lane[c] += s_pack[c]\n")) << text;
  EXPECT_TRUE(testing::contains(text, "s_partial[(((slot + @block) * 2) + c)] = s_tree[(c * 256)]"))
      << text;
}

TEST(Reduce, TheTreeHalvesItsLeavesBehindBarriers) {
  const std::string text = reduced(summing_loop());
  for (const std::string half : {"128", "64", "32", "16", "8", "4", "2", "1"}) {
    EXPECT_TRUE(testing::contains(text,
                                  "  barrier\n"
                                  "  for lane lane in [0, " +
                                      half + ")\n"))
        << text;
  }
}

TEST(Reduce, ALastLaunchCombinesWhatTheBlocksFound) {
  EXPECT_EQ(launches_of(reduced(summing_loop())),
            "  scratch float64 s_partial[(@blocks_for((end - begin)) * 2)]\n"
            "  decl int64 n_slots = 0\n"
            "  launch wrap_res over (end - begin) items (x, s_partial, begin, end, n_slots)\n"
            "  n_slots = (n_slots + @blocks_for((end - begin)))\n"
            "  launch finish_res over 1 single (s, s_partial, n_slots)\n");
}

TEST(Reduce, LaunchesOfColoursFillSlotsOneAfterTheOther) {
  const ir::Loop loop =
      make_loop({testing::indirect("y", Access::inc, 0), global_reduce("s", Access::inc)},
                testing::edges_to_nodes());
  const std::string text = launches_of(reduced(loop, Strategy::colour));
  EXPECT_TRUE(
      testing::contains(text, "scratch float64 s_partial[(@blocks_for((end - begin)) * sizes[0])]"))
      << text;
  EXPECT_TRUE(testing::contains(text, "    n_slots = (n_slots + @blocks_for((last - first)))\n"))
      << text;
  const std::string fixed =
      launches_of(reduced(loop, Strategy::colour, {.semantics = {.deterministic = true}}));
  EXPECT_TRUE(testing::contains(fixed, "s_partial[((((end - begin) + 2047) / 2048) + sizes[0])]"))
      << fixed;
}

TEST(Reduce, MinimaStartAtTheGlobalsValue) {
  const std::string text = reduced(make_loop({global_reduce("m", Access::min, 1, DType::int32)}));
  EXPECT_TRUE(testing::contains(text, "kernel wrap_res(const int32* m, int32* m_partial, "))
      << text;
  EXPECT_TRUE(testing::contains(text, "    m_lane[c] = m[c]\n")) << text;
  EXPECT_TRUE(
      testing::contains(text, "m_tree[((c * 256) + lane)] min= m_tree[((c * 256) + (lane + 128))]"))
      << text;
}

TEST(Reduce, DeterministicSumsFollowAFixedTreeOverFixedChunks) {
  const kir::Module module = lowered(summing_loop(), Strategy::direct, testing::grid,
                                     Stage::legalise, {.semantics = {.deterministic = true}});
  const std::string text = kir::dump(module);
  EXPECT_TRUE(testing::contains(text,
                                "  for block chunk in [0, (((end - begin) + 2047) / 2048))\n"
                                "    for lane lane in [0, 256)\n"))
      << text;
  EXPECT_TRUE(
      testing::contains(text,
                        "      for serial round in [0, 8)\n"
                        "        decl const int64 n = (((begin + (chunk * 2048)) + (round * 256)) "
                        "+ lane)\n"
                        "        if (n < end)\n"))
      << text;
  EXPECT_TRUE(testing::contains(text, "s_tree[((c * 256) + lane)] += s_pack[c]")) << text;
  EXPECT_FALSE(testing::contains(text.substr(0, text.find("launch op2_")), "@block")) << text;
  EXPECT_EQ(module.functions.front().max_lanes, 0);  // any number gives the same bits
}

/// The summing loop with four elements side by side, on a CPU.
kir::Module reduced_on_lanes(Strategy strategy, ir::Loop loop, bool deterministic,
                             bool by_slot = true) {
  Facts processor = testing::grid;
  processor = processor.on(/*is_processor=*/true, /*has_float64=*/true);
  Options options;
  options.lanes = 4;
  options.semantics.deterministic = deterministic;
  options.by_slot = by_slot;
  auto kernel = std::make_shared<kernel::Kernel>(*loop.members[0].kernel);
  kernel->body = kernel::infer_types(std::move(*kernel->body));
  loop.members[0].kernel = std::move(kernel);
  return lowered(loop, strategy, processor, Stage::legalise, options);
}

TEST(Reduce, LanesFoldTheirSumsIntoTheLanesOwnValue) {
  const std::string text = kir::dump(reduced_on_lanes(Strategy::direct, summing_loop(), false));
  EXPECT_TRUE(testing::contains(text, "  decl float64 s_lane[2] = 0\n")) << text;
  EXPECT_TRUE(testing::contains(text, "    s_lanes += s_pack x2, live live lanes\n")) << text;
  EXPECT_TRUE(testing::contains(text, "  s_lane += lanes of s_lanes x2\n")) << text;
}

TEST(Reduce, LanesGiveEachLeafARunOfItems) {
  const kir::Module module = reduced_on_lanes(Strategy::direct, summing_loop(), true);
  const std::string text = kir::dump(module);
  EXPECT_TRUE(testing::contains(text, "    for lane lane in [0, 256)\n")) << text;
  EXPECT_TRUE(testing::contains(text,
                                "      for serial n in [((begin + (chunk * 2048)) + (lane * 8)), "
                                "min((((begin + (chunk * 2048)) + (lane * 8)) + 8), end)) by 4\n"))
      << text;
  EXPECT_TRUE(testing::contains(text, "        s_tree[((c * 256) + lane)] += s_lane[c]\n")) << text;
  EXPECT_EQ(module.functions.front().max_lanes, 0);
}

TEST(Reduce, ALeafHasWholeGroupsOfTargets) {
  const ir::Loop loop =
      make_loop({testing::indirect("y", Access::inc, 0), global_reduce("s", Access::max)},
                testing::edges_to_nodes());
  const std::string columns = kir::dump(reduced_on_lanes(Strategy::owner, loop, true));
  EXPECT_TRUE(testing::contains(columns, "    for lane lane in [0, 128)\n")) << columns;
  EXPECT_TRUE(testing::contains(columns, "(lane * 16)) + 16), end)) by 16\n")) << columns;
  const std::string text = kir::dump(reduced_on_lanes(Strategy::owner, loop, true, false));
  EXPECT_TRUE(testing::contains(text, "    for lane lane in [0, 32)\n")) << text;
  EXPECT_TRUE(testing::contains(text, "(lane * 64)) + 64), end)) by 64\n")) << text;
}

TEST(Reduce, LargeGlobalsGetSmallerTrees) {
  const kir::Module module = lowered(make_loop({global_reduce("s", Access::inc, 64)}),
                                     Strategy::direct, testing::grid, Stage::legalise);
  EXPECT_EQ(module.functions.front().max_lanes, 32);
  EXPECT_TRUE(testing::contains(kir::dump(module), "decl shared float64 s_tree[2048]"));
}

TEST(Reduce, WhereBlocksSeeEachOtherTheLastOneCombines) {
  const std::string text = reduced(summing_loop(), Strategy::direct, {}, fenced_warps);
  EXPECT_TRUE(testing::contains(text,
                                "kernel wrap_res(const float64* x, float64* s, float64* s_partial, "
                                "int64 begin, int64 end, uint32* n_arrived)\n"))
      << text;
  EXPECT_TRUE(testing::contains(text,
                                "      s_partial[((@block * 2) + c)] = s_lane[c]\n"
                                "  if (@lane == 0)\n"
                                "    arrive is_last of @blocks at n_arrived\n"
                                "  barrier\n"
                                "  if is_last\n"
                                "    for serial c in [0, 2)\n"
                                "      s_lane[c] = 0\n"
                                "    for lane k in [0, @blocks)\n"
                                "      for serial c in [0, 2)\n"
                                "        s_lane[c] += s_partial[((k * 2) + c)]\n"))
      << text;
  EXPECT_TRUE(testing::contains(text, "        s[c] += s_lane[c]\n")) << text;
  EXPECT_EQ(launches_of(text),
            "  scratch float64 s_partial[(@blocks_for((end - begin)) * 2)]\n"
            "  scratch zero uint32 n_arrived[1]\n"
            "  launch wrap_res over (end - begin) items (x, s, s_partial, begin, end, "
            "n_arrived)\n");
}

/// The same loop, whose sum counts as 0 before it.
ir::Loop from_zero(ir::Loop loop) {
  ir::number_values(loop);
  for (ir::Value& value : loop.values) {
    if (value.version == 0 && value.alias == alias_of(loop.args.back())) value.is_zero = true;
  }
  return loop;
}

TEST(Reduce, ASumThatStartsAtZeroOverwritesItsGlobal) {
  for (const Facts& facts : {testing::grid, fenced_warps}) {
    const std::string text = reduced(from_zero(summing_loop()), Strategy::direct, {}, facts);
    EXPECT_TRUE(testing::contains(text, " s[c] = ")) << text;
    EXPECT_FALSE(testing::contains(text, " s[c] += ")) << text;
    EXPECT_FALSE(testing::contains(text, "zero_res")) << text;
  }
}

TEST(Reduce, ASumThatNobodySeesIsNotMade) {
  ir::Loop loop = summing_loop();
  ir::number_values(loop);
  for (ir::Value& value : loop.values) value.stored = false;
  const std::string text = reduced(loop, Strategy::direct, {}, fenced_warps);
  EXPECT_FALSE(testing::contains(text, "s_partial")) << text;
  EXPECT_TRUE(testing::contains(text, "wrap_res(const float64* x, int64 begin, int64 end)"))
      << text;
  EXPECT_TRUE(testing::contains(text, "s_pack")) << text;  // the kernel writes somewhere
}

TEST(Reduce, WhereSeveralLaunchesAddUpTheGlobalIsSetToZeroFirst) {
  const ir::Loop loop =
      from_zero(make_loop({testing::indirect("y", Access::inc, 0), global_reduce("s", Access::inc)},
                          testing::edges_to_nodes()));
  const std::string text = reduced(loop, Strategy::colour, {}, fenced_warps);
  EXPECT_TRUE(testing::contains(text,
                                "kernel zero_res(float64* s)\n"
                                "  if (@lane == 0)\n"
                                "    copy 1 of s[c] = 0\n"))
      << text;
  EXPECT_TRUE(testing::contains(launches_of(text), "  launch zero_res over 1 single (s)\n"))
      << text;
  EXPECT_TRUE(testing::contains(text, "s[c] += s_lane[c]")) << text;
  // the last launch of all has the results of all
  const std::string finished = reduced(loop, Strategy::colour);
  EXPECT_FALSE(testing::contains(finished, "zero_res")) << finished;
  EXPECT_TRUE(testing::contains(finished, "s[c] = s_tree[(c * 256)]")) << finished;
}

TEST(Reduce, EachLaunchOfAColourCombinesItsOwn) {
  const ir::Loop loop =
      make_loop({testing::indirect("y", Access::inc, 0), global_reduce("s", Access::inc)},
                testing::edges_to_nodes());
  const std::string text = launches_of(reduced(loop, Strategy::colour, {}, fenced_warps));
  EXPECT_TRUE(testing::contains(text, "scratch float64 s_partial[@blocks_for((end - begin))]\n"))
      << text;
  EXPECT_FALSE(testing::contains(text, "n_slots")) << text;
  EXPECT_FALSE(testing::contains(text, "finish")) << text;
}

TEST(Reduce, TheLastBlockKeepsToTheFixedTree) {
  const std::string text = reduced(summing_loop(), Strategy::direct,
                                   {.semantics = {.deterministic = true}}, fenced_warps);
  EXPECT_FALSE(testing::contains(text, "shuffle")) << text;
  EXPECT_TRUE(testing::contains(text,
                                "  if is_last\n"
                                "    for lane lane in [0, 256)\n"))
      << text;
  EXPECT_TRUE(
      testing::contains(text,
                        "for serial k in [0, ((((((end - begin) + 2047) / 2048) - lane) + 255) / "
                        "256))"))
      << text;
}

TEST(Reduce, LoopsWithoutReductionsStayAsTheyAre) {
  const ir::Loop loop = make_loop({direct("x", Access::write)});
  EXPECT_EQ(reduced(loop), testing::strategy_dump(loop, Strategy::direct, testing::grid));
}

TEST(Reduce, OneLaneWorksOnTheGlobalItself) {
  const ir::Loop loop = make_loop(
      {direct("x", Access::read, 1, {0, 0}), testing::indirect("y", Access::inc, 0, 1, {1, 0}),
       global_reduce("s", Access::inc)},
      testing::edges_to_nodes());
  const std::string text = reduced(loop, Strategy::block);
  EXPECT_TRUE(testing::contains(text, "  if (@lane == 0)\n    for serial n in [begin, end)\n"))
      << text;
  EXPECT_TRUE(testing::contains(text, "s[c] += s_pack[c]")) << text;
  EXPECT_FALSE(testing::contains(text, "finish")) << text;
}

}  // namespace
}  // namespace op2::lower
