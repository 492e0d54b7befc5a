// SPDX-License-Identifier: BSD-3-Clause
#include "lower/entries.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "loops.hpp"

namespace op2::lower {
namespace {

using testing::contains;
using testing::grid;
using testing::lowered;
using testing::make_loop;
using testing::NamedArg;
using testing::names_of;
using testing::no_facts;

ir::MatArg summed_matrix(int row_dim = 1, int col_dim = 1) {
  return {DType::float64, row_dim, col_dim, Access::inc, 0, 0, false, false, testing::own_data};
}

ir::Loop summed(const ir::MatArg& mat, int arity) {
  return make_loop({{"A", mat}, testing::indirect("x", Access::read, 0, 3)}, {{arity, 0}});
}

Verdict asked(const ir::Loop& loop, const Options& options = {}) {
  return sums_entries(loop, grid, no_facts(loop), options);
}

TEST(SumEntries, TakesOneAtomicForEachEntryOfABlock) {
  const kir::Module module =
      lowered(summed(summed_matrix(), 4), Strategy::block, grid, Stage::layout);
  EXPECT_EQ(testing::count<kir::Atomic>(module.functions.front().body), 1);
  const std::string text = kir::dump(module);
  EXPECT_TRUE(
      contains(text,
               "  for lane i in [0, A_n_entries)\n"
               "    decl const int64 place = A_place[(A_begin + i)]\n"
               "    decl const int64 last = A_first_summand[(((A_begin + i) + block) + 1)]\n"
               "    decl float64 sum = 0\n"
               "    for serial k in [A_first_summand[((A_begin + i) + block)], last)\n"
               "      sum += A_shared[A_own[k]]\n"
               "    atomic A[place] += sum\n"))
      << text;
}

TEST(SumEntries, WhereABlocksEntriesBeginIsReadAtFirst) {
  const std::string text =
      kir::dump(lowered(summed(summed_matrix(), 4), Strategy::block, grid, Stage::layout));
  EXPECT_TRUE(contains(text,
                       "  decl const int64 A_begin = A_first_entry[block]\n"
                       "  decl const int64 A_n_entries = (A_first_entry[(block + 1)] - A_begin)\n"
                       "  for lane i in [0, (n_here * 16))\n"
                       "    A_own[i] = A_summand[((first * 16) + i)]\n"))
      << text;
}

TEST(SumEntries, TheKernelAddsInPlaceWherePointersReachSharedMemory) {
  const ir::Loop loop = summed(summed_matrix(), 4);
  const std::string text = kir::dump(lowered(loop, Strategy::block, grid, Stage::layout));
  EXPECT_TRUE(contains(text, "A_shared[((c * 128) + i)] = 0")) << text;
  EXPECT_TRUE(contains(text, "kernel(&A_shared[i], x_pack)")) << text;
  Facts apart = grid;
  apart.one_address_space = false;
  const std::string copied = kir::dump(lowered(loop, Strategy::block, apart, Stage::layout));
  EXPECT_TRUE(contains(copied, "kernel(A_pack, x_pack)")) << copied;
  EXPECT_TRUE(contains(copied, "A_shared[((c * 128) + i)] = A_pack[c]")) << copied;
}

abi::EntriesPlan entries_plan_of(const kir::Module& module) {
  return std::get<abi::EntriesPlan>(module.plan);
}

TEST(SumEntries, PlanSaysWhatIsListed) {
  const kir::Module module = lowered(summed(summed_matrix(2, 3), 2), Strategy::block, grid);
  EXPECT_EQ(module.plan, kir::PlanSpec(abi::EntriesPlan{128, 8, {{0, 2, 3}}}));
  EXPECT_EQ(module.items, kir::Items::blocks);
  for (const kir::Parameter& parameter : module.argv) {
    EXPECT_NE(parameter.role, kir::Role::matrix) << parameter.name;
  }
}

TEST(SumEntries, PlacesAreAsWideAsIndices) {
  Options options;
  options.widths.index_bytes = 4;
  const auto place_bytes = [&options] {
    const kir::Module module =
        lowered(summed(summed_matrix(), 4), Strategy::block, grid, Stage::narrow, options);
    return entries_plan_of(module).place_bytes;
  };
  EXPECT_EQ(place_bytes(), 4);
  options.widths.index_bytes = 8;
  EXPECT_EQ(place_bytes(), 8);
}

TEST(SumEntries, BlocksAreAsLongAsSharedMemoryAllows) {
  const kir::Module module = lowered(summed(summed_matrix(), 10), Strategy::block, grid);
  EXPECT_EQ(entries_plan_of(module).block_size, 32);
  EXPECT_TRUE(asked(summed(summed_matrix(), 10)).ok);
  EXPECT_EQ(asked(summed(summed_matrix(), 20)).why,
            "what its elements add is too large for shared memory");
}

TEST(SumEntries, IsForGpus) {
  Facts in_turn = grid;
  in_turn = in_turn.on(/*is_processor=*/true, /*has_float64=*/true);
  const ir::Loop loop = summed(summed_matrix(), 4);
  EXPECT_FALSE(sums_entries(loop, in_turn, no_facts(loop), {}).ok);
  EXPECT_FALSE(sums_entries(loop, testing::threads, no_facts(loop), {}).ok);
}

TEST(SumEntries, IsNotForWhatSumsSomethingElse) {
  const auto with = [](const NamedArg& arg) {
    return make_loop({{"A", summed_matrix()}, arg}, {{4, 0}});
  };
  EXPECT_FALSE(asked(with(testing::global_reduce("total", Access::inc))).ok);
  EXPECT_FALSE(asked(with(testing::indirect("r", Access::max, 0, 1))).ok);
  EXPECT_FALSE(asked(with(testing::indirect("r", Access::write, 0, 1))).ok);
  EXPECT_TRUE(asked(with(testing::indirect("r", Access::inc, 0, 1))).ok);
  EXPECT_TRUE(asked(with(testing::direct("w", Access::write, 1))).ok);
  EXPECT_TRUE(asked(with(testing::direct("w", Access::read, 1))).ok);
  ir::MatArg set = summed_matrix();
  set.access = Access::write;
  EXPECT_FALSE(asked(summed(set, 4)).ok);
  ir::Loop cells = summed(summed_matrix(), 2);
  cells.iteration.layers = ir::Layers::constant;
  EXPECT_FALSE(asked(cells).ok);
  ir::Loop part = summed(summed_matrix(), 4);
  part.iteration.subset = true;
  EXPECT_FALSE(asked(part).ok);
}

// Dats

constexpr Options summing{.widths = {.summed = true}};
constexpr Facts in_warps{.lanes = Lanes::grid, .atomics = true, .warp = 32};

Verdict asked_of_dats(const ir::Loop& loop, const Options& options = summing) {
  return sums_targets(loop, in_warps, no_facts(loop), options);
}

ir::Loop added(int dim, int n_gathered = 0) {
  std::vector<NamedArg> args{testing::indirect("y", Access::inc, 0, dim)};
  if (n_gathered > 0) args.push_back(testing::indirect("x", Access::read, 0, n_gathered));
  return make_loop(args, {{4, 0}});
}

TEST(SumTargets, TakesOneAtomicForEachTargetOfABlock) {
  const kir::Module module = lowered(added(1), Strategy::atomic, in_warps, Stage::layout, summing);
  EXPECT_EQ(testing::count<kir::Atomic>(module.functions.front().body), 1);
  EXPECT_EQ(module.plan, kir::PlanSpec(abi::EntriesPlan{256, 8, {}, {0}}));
  EXPECT_EQ(module.items, kir::Items::blocks);
  const std::string text = kir::dump(module);
  EXPECT_TRUE(contains(text, "sum += y_shared[y_map_own[k]]")) << text;
  EXPECT_TRUE(contains(text, "atomic y[place] += sum")) << text;
}

TEST(SumTargets, ComponentsLieApart) {
  const std::string text =
      kir::dump(lowered(added(3), Strategy::atomic, in_warps, Stage::layout, summing));
  EXPECT_TRUE(contains(text, "y_shared[(((((c % 3) * 4) + (c / 3)) * 256) + i)] = y_pack[c]"))
      << text;
  EXPECT_TRUE(contains(text, "sum += y_shared[(((i % 3) * 1024) + y_map_own[k])]")) << text;
}

TEST(SumTargets, DatsOfOneMapShareItsList) {
  const ir::Loop loop =
      make_loop({testing::indirect("y", Access::inc, 0), testing::indirect("z", Access::inc, 0, 2),
                 testing::indirect("u", Access::inc, 1)},
                {{4, 0}, {3, 1}});
  const kir::Module module = lowered(loop, Strategy::atomic, in_warps, Stage::layout, summing);
  EXPECT_EQ(entries_plan_of(module).maps, (std::vector<int>{0, 1}));
  EXPECT_EQ(testing::count<kir::Atomic>(module.functions.front().body), 3);
}

TEST(SumTargets, BlocksAreAsLongAsTheirEntriesAllow) {
  const auto elements = [](int arity, int dim) {
    const ir::Loop loop = make_loop({testing::indirect("y", Access::inc, 0, dim)}, {{arity, 0}});
    return entries_plan_of(lowered(loop, Strategy::atomic, in_warps, Stage::layout, summing))
        .block_size;
  };
  EXPECT_EQ(elements(5, 1), 256);
  EXPECT_EQ(elements(10, 1), 128);
  EXPECT_EQ(elements(10, 4), 64);  // 340 bytes an element
  EXPECT_EQ(asked_of_dats(make_loop({testing::indirect("y", Access::inc, 0, 9)}, {{64, 0}})).why,
            "what its elements add is too large for shared memory");
}

TEST(SumTargets, NotWhereLanesAddSideBySideAsFast) {
  EXPECT_TRUE(asked_of_dats(added(1)).ok);
  EXPECT_TRUE(asked_of_dats(added(1, 1)).ok);
  EXPECT_FALSE(asked_of_dats(added(1, 2)).ok);
  EXPECT_TRUE(asked_of_dats(added(2, 4)).ok);
  Options scattered = summing;
  scattered.widths.scattered = true;
  EXPECT_TRUE(asked_of_dats(added(1, 2), scattered).ok);
  Options in_order = summing;
  in_order.tuning.interleaved = false;
  EXPECT_TRUE(asked_of_dats(added(1, 2), in_order).ok);
  EXPECT_FALSE(asked_of_dats(added(1), {}).ok);  // little is added
}

TEST(SumTargets, NotWhereSomethingElseHappens) {
  EXPECT_FALSE(asked_of_dats(summed(summed_matrix(), 4)).ok);
  const auto with = [](const NamedArg& arg) {
    return make_loop({testing::indirect("y", Access::inc, 0), arg}, {{4, 0}});
  };
  EXPECT_FALSE(asked_of_dats(with(testing::global_reduce("total", Access::inc))).ok);
  EXPECT_FALSE(asked_of_dats(with(testing::indirect("r", Access::max, 0))).ok);
  EXPECT_TRUE(asked_of_dats(with(testing::direct("w", Access::write))).ok);
  ir::Loop part = added(1);
  part.iteration.subset = true;
  EXPECT_FALSE(asked_of_dats(part).ok);
  ir::Loop some = added(1);
  some.maps.front().rows = {{.slot = 1}};
  EXPECT_FALSE(asked_of_dats(some).ok);
}

TEST(SumTargets, AChoiceSaysSo) {
  const ir::Loop loop = added(1);
  EXPECT_EQ(choose(loop, in_warps, no_facts(loop), summing).why,
            "increments by atomics, those of a block summed first");
  EXPECT_EQ(choose(loop, in_warps, no_facts(loop), {}).why, "increments by atomics");
}

}  // namespace
}  // namespace op2::lower
