// SPDX-License-Identifier: BSD-3-Clause
#include "lower/reduce_tree.hpp"

#include <gtest/gtest.h>

#include <string>

#include "loops.hpp"

namespace op2::lower {
namespace {

Reduced global_of(DType dtype, int dim, kir::Update update = kir::Update::add) {
  return {0, dtype, dim, update, "s", "s_partial", "s_lane", "s_tree", "s_got"};
}

std::string dump_of(kir::Block body) {
  kir::Module module;
  module.functions.push_back({"f", {}, std::move(body), true});
  return kir::dump(module);
}

TEST(ReductionTree, WarpsExchangeRegisters) {
  const ReductionTree tree({global_of(DType::float64, 1)}, 32, false);
  const std::string text = dump_of(tree.combined());
  for (const std::string half : {"16", "8", "4", "2", "1"}) {
    EXPECT_TRUE(
        testing::contains(text, "    s_lane[c] += shuffle32(s_lane[c], (@lane + " + half + "))\n"))
        << text;
  }
  EXPECT_TRUE(testing::contains(text, "s_tree[((c * 8) + (@lane / 32))] = s_lane[c]")) << text;
  EXPECT_TRUE(testing::contains(dump_of(tree.declarations()), "decl shared float64 s_tree[8]\n"));
}

TEST(ReductionTree, TheFirstWarpFoldsWhatAllHave) {
  const ReductionTree tree({global_of(DType::float64, 1)}, 32, false);
  EXPECT_TRUE(testing::contains(
      dump_of(tree.combined()),
      "  barrier\n"
      "  if (@lane < 32)\n"
      "    for serial c in [0, 1)\n"
      "      s_lane[c] = select((@lane < (@lanes / 32)), s_tree[((c * 8) + @lane)], 0)\n"
      "    for serial c in [0, 1)\n"
      "      s_lane[c] += shuffle32(s_lane[c], (@lane + 4))\n"))
      << dump_of(tree.combined());
  // a minimum of nothing is what the Global is
  const ReductionTree least({global_of(DType::int32, 1, kir::Update::min)}, 32, false);
  EXPECT_TRUE(testing::contains(dump_of(least.combined()), "s_tree[((c * 8) + @lane)], s[c])"));
}

TEST(ReductionTree, ABlockHasNoMoreWarpsThanAWarpHasLanes) {
  EXPECT_EQ(ReductionTree({global_of(DType::float64, 1)}, 8, false).n_lanes(), 64);
  EXPECT_EQ(ReductionTree({global_of(DType::float64, 1)}, 32, false).n_lanes(), 256);
}

TEST(ReductionTree, AMinimumIsComparedAfterTheExchange) {
  const ReductionTree tree({global_of(DType::int8, 1, kir::Update::min)}, 32, false);
  EXPECT_TRUE(testing::contains(dump_of(tree.combined()),
                                "    decl int8 s_got = shuffle32(s_lane[c], (@lane + 16))\n"
                                "    s_lane[c] min= s_got\n"));
  EXPECT_TRUE(testing::contains(dump_of(tree.starts()), "    s_lane[c] = s[c]\n"));
}

TEST(ReductionTree, FoldsLeavesWhereNothingElseIsPossible) {
  const auto has_leaves = [](const ReductionTree& tree) {
    return testing::contains(dump_of(tree.combined()), "s_tree[((c * 256) + lane)] += ");
  };
  EXPECT_TRUE(has_leaves({{global_of(DType::float64, 1)}, 0, false}));
  EXPECT_TRUE(has_leaves({{global_of(DType::complex64, 1)}, 32, false}));
  EXPECT_TRUE(has_leaves({{global_of(DType::float64, 1)}, 32, true}));
  EXPECT_FALSE(has_leaves({{global_of(DType::float64, 16)}, 32, false}));
}

TEST(ReductionTree, LargeValuesGetFewerLeaves) {
  EXPECT_EQ(ReductionTree({global_of(DType::float64, 64)}, 32, false).n_lanes(), 32);
  EXPECT_EQ(ReductionTree({global_of(DType::float32, 4)}, 0, false).n_lanes(), 256);
}

TEST(ReductionTree, AFixedOrderAddsToLeaves) {
  const Reduced global = global_of(DType::float64, 2);
  const ReductionTree fixed({global}, 32, true);
  EXPECT_EQ(kir::dump(fixed.own(global, kir::name("c"))), "s_tree[((c * 256) + lane)]");
  EXPECT_EQ(kir::dump(ReductionTree({global}, 32, false).own(global, kir::name("c"))), "s_lane[c]");
  const std::string text = dump_of(fixed.combined_partials(kir::name("n_slots")));
  EXPECT_TRUE(testing::contains(text, "for serial k in [0, (((n_slots - lane) + 255) / 256))\n"))
      << text;
}

TEST(ReductionTree, ResultsGoToASlotOrToTheGlobals) {
  const ReductionTree tree({global_of(DType::float64, 2)}, 32, false);
  EXPECT_TRUE(testing::contains(dump_of(tree.to_slot(kir::name("slot"))),
                                "s_partial[((slot * 2) + c)] = s_lane[c]\n"));
  EXPECT_TRUE(testing::contains(dump_of(tree.to_globals()), "s[c] += s_lane[c]\n"));
}

}  // namespace
}  // namespace op2::lower
