// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_rule.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "ir/group.hpp"
#include "typed_loops.hpp"

namespace op2::lower::testing {
namespace {

LaneChoice choice(const ir::Loop& loop, std::optional<int> forced, int vector_bytes,
                  Options options = {}, const Facts& facts = one_lane) {
  const std::vector<MapFacts> maps = no_facts(loop);
  options.tuning = Tuning::of(class_of(facts));
  return choose_lanes({loop, Strategy::direct, facts, maps, options}, forced, vector_bytes);
}

/// An edge loop whose kernel adds a sum of many terms.
ir::Loop heavy_loop(DType dtype, int n_terms = 100) {
  kernel::Expr value = entry_of("x", 0);
  for (int i = 0; i < n_terms; ++i) {
    value = kernel::Expr{
        kernel::Binary{kernel::BinaryOp::add}, {value, entry_of("x", 1)}, {}, some_line};
  }
  ir::Loop loop = make_loop_of("res",
                               {indirect("x", Access::read, 0, 1, own_data, dtype),
                                indirect("y", Access::inc, 0, 1, own_data, dtype)},
                               edges_to_nodes(), [&value](int) { return value; });
  return typed(std::move(loop));
}

TEST(LanesRule, CountsWorkAndWhatIsMoved) {
  const LaneWork work = lane_work(heavy_loop(DType::float64), {});
  EXPECT_GE(work.n_operations, 200);
  EXPECT_EQ(work.n_scalars, 6);
  EXPECT_EQ(work.widest, 8);
}

TEST(LanesRule, FillsTheMachinesVectors) {
  EXPECT_EQ(choice(heavy_loop(DType::float64), std::nullopt, 64).lanes, 8);
  EXPECT_EQ(choice(heavy_loop(DType::float64), std::nullopt, 16).lanes, 2);
  EXPECT_EQ(choice(heavy_loop(DType::float32), std::nullopt, 32).lanes, 8);
}

TEST(LanesRule, OwnersThatGoBySlotNeedLess) {
  const ir::Loop loop = heavy_loop(DType::float64, 15);  // each of two values
  const std::vector<MapFacts> maps = no_facts(loop);
  const auto owners = [&](const Facts& facts, bool by_slot) {
    Options options;
    options.by_slot = by_slot;
    options.tuning = Tuning::of(class_of(facts));
    return choose_lanes({loop, Strategy::owner, facts, maps, options}, std::nullopt, 32).lanes;
  };
  EXPECT_LT(lane_work(loop, {}).n_operations, 40);
  EXPECT_EQ(choice(loop, std::nullopt, 32).lanes, 0);
  EXPECT_EQ(owners(one_lane, true), 4);
  EXPECT_EQ(owners(one_lane, false), 0);
  Facts processor = grid;
  processor = processor.on(/*is_processor=*/true, /*has_float64=*/true);
  EXPECT_EQ(owners(processor, true), 4);
  EXPECT_EQ(owners(processor, false), 0);
}

ir::Loop light_loop(const std::string& name, int data) {
  return typed(make_loop_of(name,
                            {direct("x", Access::read, 4, {data, data}),
                             direct("y", Access::write, 4, {data + 1, data + 1})},
                            edges_to_nodes(), [](int) { return entry_of("x", 0); }));
}

TEST(LanesRule, OfAGroupWhatMembersHandOnIsNotMoved) {
  // the second one reads what the first one writes; both write four values, which are stored
  const ir::Group group = ir::fused({light_loop("a", 0), light_loop("b", 1)});
  EXPECT_EQ(lane_work(light_loop("a", 0), {}).n_scalars, 8);
  EXPECT_EQ(lane_work(group, {}).n_scalars, 12);
}

TEST(LanesRule, AHeavyMemberTakesTheOthersAlong) {
  const ir::Loop heavy = heavy_loop(DType::float64);
  ir::Loop light = heavy_loop(DType::float64, 0);
  const LaneChoice both = choice(ir::fused({heavy, light}), std::nullopt, 64);
  EXPECT_GT(both.lanes, 0) << both.why;
  EXPECT_EQ(choice(ir::fused({light, light}), std::nullopt, 64).lanes, 0);
}

TEST(LanesRule, FillsHalfOfThemWhereRowsDecide) {
  const LaneChoice half = choice(heavy_loop(DType::float64, 20), std::nullopt, 64);
  EXPECT_EQ(half.lanes, 4) << half.why;
  EXPECT_NE(half.why.find("vectors of 32 bytes"), std::string::npos) << half.why;
  EXPECT_EQ(choice(heavy_loop(DType::float32, 20), std::nullopt, 64).lanes, 8);
  EXPECT_EQ(choice(heavy_loop(DType::float64, 20), std::nullopt, 16).lanes, 2);
}

TEST(LanesRule, LeavesLightLoopsAlone) {
  const LaneChoice light = choice(typed(edge_loop()), std::nullopt, 64);
  EXPECT_EQ(light.lanes, 0);
  EXPECT_NE(light.why.find("too little to gain"), std::string::npos) << light.why;
  EXPECT_EQ(choice(heavy_loop(DType::float64), std::nullopt, 0).lanes, 0);
  Options debug;
  debug.semantics.debug = true;
  EXPECT_EQ(choice(heavy_loop(DType::float64), std::nullopt, 64, debug).lanes, 0);
}

TEST(LanesRule, AsksForLessOverColumns) {
  ir::Loop loop = typed(edge_loop());
  const Facts facts;
  const Options options;
  const auto asked = [&](Strategy strategy) {
    return lane_rule({loop, strategy, facts, {}, options}).least_operations_a_scalar;
  };
  EXPECT_EQ(asked(Strategy::direct), 2);
  loop.iteration.layers = ir::Layers::constant;
  EXPECT_EQ(asked(Strategy::direct), 1);
  EXPECT_EQ(asked(Strategy::colour), 2);
}

TEST(LanesRule, KnowsNothingOfOpaqueKernels) {
  const LaneWork work = lane_work(with_opaque_kernel(edge_loop()), {});
  EXPECT_EQ(work.n_operations, 0);
  EXPECT_GT(work.n_scalars, 0);
}

TEST(LanesRule, AsksForMoreWhereADevicesCompilerVectorises) {
  Facts grid;
  grid.lanes = Lanes::grid;
  const ir::Loop heavy = heavy_loop(DType::float64);
  EXPECT_EQ(choice(heavy, std::nullopt, 64, {}, grid).why,
            "the backend spreads elements over lanes itself");
  grid = grid.on(/*is_processor=*/true, /*has_float64=*/true);
  EXPECT_EQ(choice(heavy, std::nullopt, 64, {}, grid).lanes, 8);
  const ir::Loop loop = heavy_loop(DType::float64, 30);
  EXPECT_NE(choice(loop, std::nullopt, 64).lanes, 0);
  const LaneChoice light = choice(loop, std::nullopt, 64, {}, grid);
  EXPECT_NE(light.why.find("too little to gain"), std::string::npos) << light.why;
  EXPECT_EQ(choice(loop, 8, 64, {}, grid).lanes, 8);
}

TEST(LanesRule, WhatADeviceReducesIsLightAndYetOnLanes) {
  const Facts grid =
      Facts{.lanes = Lanes::grid, .atomics = true}.on(/*is_processor=*/true, /*has_float64=*/true);
  const auto sum_of = [](int dim) {
    return typed(make_loop({direct("x", Access::read, dim), global_reduce("s", Access::inc)}));
  };
  EXPECT_EQ(choice(sum_of(4), std::nullopt, 64, {}, grid).lanes, 4);
  EXPECT_EQ(choice(sum_of(2), std::nullopt, 64, {}, grid).lanes, 0);
  EXPECT_EQ(choice(sum_of(4), std::nullopt, 64).lanes, 0);
}

TEST(LanesRule, SumsOfFewValuesGoOnLanesOnTheHost) {
  const auto sum = [](const NamedArg& read, Access access = Access::inc) {
    return typed(make_loop({read, global_reduce("s", access)}));
  };
  const ir::Loop few = sum(direct("x", Access::read, 3));
  EXPECT_EQ(choice(few, std::nullopt, 64).lanes, 4);  // vectors of 32 bytes
  EXPECT_EQ(choice(sum(direct("x", Access::read, 1)), std::nullopt, 64).lanes, 8);
  EXPECT_EQ(choice(sum(direct("x", Access::read, 4)), std::nullopt, 64).lanes, 0);
  EXPECT_EQ(choice(sum(direct("x", Access::rw, 1)), std::nullopt, 64).lanes, 0);
  EXPECT_EQ(choice(sum(direct("x", Access::read, 1), Access::max), std::nullopt, 64).lanes, 0);
  Options options;
  options.semantics.deterministic = true;
  EXPECT_EQ(choice(few, std::nullopt, 64, options).lanes, 0);
}

TEST(LanesRule, AValueBehindAMapCountsTwiceInSums) {
  const auto sum = [](int dim) {
    return typed(make_loop({indirect("x", Access::read, 0, dim), global_reduce("s", Access::inc)},
                           {{1, 0}}));
  };
  EXPECT_EQ(choice(sum(1), std::nullopt, 64).lanes, 4);
  EXPECT_EQ(choice(sum(2), std::nullopt, 64).lanes, 0);
}

TEST(LanesRule, TheUserDecides) {
  EXPECT_EQ(choice(typed(edge_loop()), 4, 64).lanes, 4);
  EXPECT_EQ(choice(heavy_loop(DType::float64), 0, 64).lanes, 0);
  EXPECT_THROW((void)choice(with_opaque_kernel(edge_loop()), 4, 64), UnsupportedError);
}

}  // namespace
}  // namespace op2::lower::testing
