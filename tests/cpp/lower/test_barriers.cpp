// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "kir/verify.hpp"
#include "loops.hpp"

/// Each Barrier that a pass emits is needed: taken away, verify() finds the statements that race.
namespace op2::lower {
namespace {

using testing::direct;
using testing::edges_to_nodes;
using testing::global_reduce;
using testing::indirect;
using testing::lowered;
using testing::make_loop;
using testing::without_barrier;

constexpr Facts with_fences{.lanes = Lanes::grid, .atomics = true, .fences = true};
constexpr Facts with_warps{.lanes = Lanes::grid, .atomics = true, .warp = 32, .fences = true};
constexpr Options fixed_order{.semantics = {.deterministic = true}};

int n_barriers(const kir::Module& module) {
  int n = 0;
  for (const kir::Function& function : module.functions) {
    n += testing::count<kir::Barrier>(function.body);
  }
  return n;
}

std::string said_of(const kir::Module& module) {
  try {
    kir::verify(module);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

/// Of the module after the pass and after the last one: the numbers of the Barriers that are not
/// missed.
std::vector<int> not_missed(const ir::Loop& loop, Strategy strategy, const Facts& facts,
                            const Options& options = {}) {
  std::vector<int> found;
  for (const Stage stage : {Stage::reduce, Stage::narrow}) {
    const kir::Module module = lowered(loop, strategy, facts, stage, options);
    EXPECT_EQ(said_of(module), "");
    EXPECT_GT(n_barriers(module), 0);
    for (int i = 0; i < n_barriers(module); ++i) {
      if (said_of(without_barrier(module, i)).empty()) found.push_back(i);
    }
  }
  return found;
}

const std::vector<int> none;

TEST(Barriers, OfStagedBlocks) {
  const ir::Loop sums = make_loop(
      {indirect("q", Access::read, 0, 2), indirect("r", Access::inc, 0, 2)}, edges_to_nodes());
  EXPECT_EQ(not_missed(sums, Strategy::block, testing::grid), none);
  const ir::Loop minima = make_loop({indirect("m", Access::min, 0)}, edges_to_nodes());
  EXPECT_EQ(not_missed(minima, Strategy::block, testing::grid), none);
  const ir::Loop in_turns = make_loop({indirect("w", Access::rw, 0)}, edges_to_nodes());
  EXPECT_EQ(not_missed(in_turns, Strategy::block, testing::grid), none);
}

/// What is stored directly, or through a Map that leads each element to targets of its own.
TEST(Barriers, AreNotWantedWhereElementsHaveTheirOwn) {
  const ir::Loop loop = make_loop(
      {direct("w", Access::rw), indirect("r", Access::inc, 0), indirect("b", Access::inc, 1)},
      {{2, 0}, {2, 1}});
  std::vector<MapFacts> maps(2);
  maps[1].injective = true;
  EXPECT_NO_THROW((void)lower({loop, Strategy::block, testing::grid, maps, {}},
                              [](Stage, const kir::Module&) {}));
}

TEST(Barriers, BetweenTwoListsOfOneDat) {
  const ir::Loop loop = make_loop(
      {indirect("r", Access::inc, 0, 1, {0, 0}), indirect("r", Access::inc, 1, 1, {0, 0})},
      {{2, 0}, {3, 0}});
  const kir::Module module = lowered(loop, Strategy::block, testing::grid, Stage::layout);
  ASSERT_EQ(n_barriers(module), 3);
  EXPECT_EQ(said_of(without_barrier(module, 2)).substr(0, 45),
            "wrap_res: lanes touch 'r' without a barrier b");
  EXPECT_EQ(not_missed(loop, Strategy::block, testing::grid), none);
}

TEST(Barriers, OfSumsInBlocks) {
  const ir::MatArg matrix{DType::float64, 1, 1, Access::inc, 0, 0, false, false, testing::own_data};
  const ir::Loop assembly = make_loop({{"A", matrix}, indirect("x", Access::read, 0, 3)}, {{4, 0}});
  EXPECT_EQ(not_missed(assembly, Strategy::block, testing::grid), none);
  Options summed;
  summed.widths.summed = true;
  const ir::Loop targets = make_loop(
      {indirect("r", Access::inc, 0, 2), indirect("s", Access::inc, 0)}, edges_to_nodes());
  EXPECT_EQ(not_missed(targets, Strategy::atomic, testing::grid, summed), none);
  const ir::Loop of_one = make_loop({indirect("f", Access::inc, 0, 4)}, {{1, 0}});
  EXPECT_EQ(not_missed(of_one, Strategy::atomic, testing::grid, summed), none);
}

/// No lane waits at the last Barrier of a tree: the first lane goes on alone with what
/// it has summed itself. Only where a block sums one chunk after the other do lanes write leaves
/// behind it. Of these trees the first has nine Barriers; a launch of its own or, behind the one
/// after Arrive, the last block has another tree.
TEST(Barriers, OfReductions) {
  const ir::Loop loop = make_loop({direct("x", Access::read), global_reduce("s", Access::inc, 2),
                                   global_reduce("m", Access::max)});
  using Numbers = std::vector<int>;
  EXPECT_EQ(not_missed(loop, Strategy::direct, testing::grid), (Numbers{8, 17, 8, 17}));
  EXPECT_EQ(not_missed(loop, Strategy::direct, with_fences), (Numbers{8, 18, 8, 18}));
  EXPECT_EQ(not_missed(loop, Strategy::direct, with_warps), none);
  EXPECT_EQ(not_missed(loop, Strategy::direct, testing::grid, fixed_order), (Numbers{17, 17}));
  EXPECT_EQ(not_missed(loop, Strategy::direct, with_fences, fixed_order), (Numbers{18, 18}));
}

/// Elements of a colour are independent, whichever chunk of a fixed order they are in.
TEST(Barriers, OfColoursInAFixedOrder) {
  const ir::Loop loop =
      make_loop({indirect("y", Access::inc, 0), global_reduce("s", Access::inc)}, edges_to_nodes());
  EXPECT_EQ(not_missed(loop, Strategy::colour, testing::grid, fixed_order), (std::vector{17, 17}));
}

}  // namespace
}  // namespace op2::lower
