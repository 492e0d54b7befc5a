// SPDX-License-Identifier: BSD-3-Clause
#include "plan/widths.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "maps.hpp"

namespace op2::plan {
namespace {

constexpr std::int64_t big = std::int64_t{1} << 28;

/// `y[to[e]] += ..`, [n] elements that add @p dim values of 8 bytes each to one of 100 targets.
LoopSizes adding(std::int64_t n, std::int64_t dim = 1, MapPointer table = nullptr) {
  LoopSizes loop{.n_items = n, .n_entities = n, .n_whole = n};
  loop.maps = {{.id = 1, .table = std::move(table), .n_targets = 100}};
  loop.arguments = {{.data = 7,
                     .access = Access::inc,
                     .map = 0,
                     .target = 0,
                     .n_scalars = dim,
                     .n_rows = 100,
                     .row_scalars = dim,
                     .row_bytes = 8 * dim}};
  return loop;
}

Facts gpu(int warp = 32) {
  return {.lanes = Lanes::grid, .warp = warp};
}

Widths widths_on(const Facts& facts, const LoopSizes& loop,
                 const Tuning& tuning = Tuning::of(DeviceClass::gpu)) {
  PlanCache plans;
  return widths_of(loop, {}, facts, tuning, plans, 1);
}

TEST(Widths, HostsCountInWhatFits) {
  const Widths small = widths_on({}, adding(100));
  EXPECT_EQ(small, Widths{});
  LoopSizes large = adding(big);
  large.n_slots = 16;
  EXPECT_EQ(widths_on({}, large).element_bytes, 4);
  EXPECT_EQ(widths_on({}, large).entry_bytes, 8);
  EXPECT_EQ(entry_bytes(large), 8);
  large.maps[0].n_targets = 16 * big;
  EXPECT_EQ(widths_on({}, large).target_bytes, 8);
  large.arguments[0].position_bytes = 2;
  EXPECT_EQ(widths_on({}, large).position_bytes, 2);
}

TEST(Widths, IndicesAreNarrowWhereResultsOfElementsFit) {
  EXPECT_TRUE(fits_narrow(adding(big / 4, 4), 1.5));
  EXPECT_FALSE(fits_narrow(adding(big, 4), 1.5)) << "4 values for each element do not fit";
  EXPECT_TRUE(fits_narrow(adding(big / 4, 1), 15));
  EXPECT_FALSE(fits_narrow(adding(big / 4, 1), 16.5)) << "nor do padded columns";
  LoopSizes strided = adding(100);
  strided.arguments[0].row_scalars = 1 << 24;
  EXPECT_FALSE(fits_narrow(strided, 1.5));
  LoopSizes matrix = adding(100);
  matrix.arguments[0].matrix_scalars = 4 * big;
  EXPECT_FALSE(fits_narrow(matrix, 1.5));
  LoopSizes open = adding(100);
  open.maps[0].n_targets = -1;
  EXPECT_FALSE(fits_narrow(open, 1.5));
  open = adding(100);
  open.n_whole = -1;
  EXPECT_FALSE(fits_narrow(open, 1.5));
}

TEST(Widths, ColumnsArePaddedWhereTargetsHaveSimilarNumbersOfElements) {
  const testing::TestMap<> even({0, 1, 2, 3, 0, 1, 2, 3}, 1, 100);
  const testing::TestMap<> uneven({0, 0, 0, 0, 0, 0, 0, 0}, 1, 100);
  PlanCache plans;
  LoopSizes loop = adding(8, 1, even.table);
  loop.maps[0].n_targets = 4;
  EXPECT_TRUE(is_evenly_covered(loop, 1.5, plans, 1));
  EXPECT_EQ(largest_degree(loop, plans, 1), 2);
  EXPECT_EQ(widths_on(gpu(), loop).columns, 2);
  EXPECT_FALSE(widths_on({}, loop).padded) << "no grid";
  loop.is_whole = false;
  EXPECT_FALSE(is_evenly_covered(loop, 1.5, plans, 1));
  loop = adding(8, 1, uneven.table);
  loop.maps[0].n_targets = 4;
  EXPECT_FALSE(is_evenly_covered(loop, 1.5, plans, 1));
  EXPECT_TRUE(is_evenly_covered(loop, 4.0, plans, 1));
  EXPECT_EQ(widths_on(gpu(), loop).columns, 0);
}

TEST(Widths, OnlyTheUsedEntriesOfAMapCount) {
  const testing::TestMap<> ends({0, 0, 0, 1, 0, 2, 0, 3}, 2, 4);
  PlanCache plans;
  LoopSizes loop = adding(4, 1, ends.table);
  loop.maps[0].n_targets = 4;
  EXPECT_FALSE(is_evenly_covered(loop, 1.5, plans, 1));
  loop.maps[0].slots = {1};
  EXPECT_TRUE(is_evenly_covered(loop, 1.5, plans, 1));
  EXPECT_EQ(largest_degree(loop, plans, 1), 1);
}

TEST(Widths, OfUnknownMapsTheUsualIsTaken) {
  PlanCache plans;
  const LoopSizes loop = adding(1 << 20);
  EXPECT_TRUE(is_evenly_covered(loop, 1.5, plans, 1));
  EXPECT_EQ(largest_degree(loop, plans, 1), 0);
  const Widths widths = widths_on(gpu(), loop);
  EXPECT_TRUE(widths.summed);
  EXPECT_FALSE(widths.scattered);
}

TEST(Widths, BlocksSumMuchThatIsSharedFirst) {
  std::vector<std::int32_t> near;
  std::vector<std::int32_t> apart;
  for (std::int32_t e = 0; e < 4096; ++e) {
    near.push_back(e / 8);
    apart.push_back(e);
  }
  const testing::TestMap<> shared(near, 1, 4096);
  const testing::TestMap<> own(apart, 1, 4096);
  Tuning tuning = Tuning::of(DeviceClass::gpu);
  tuning.least_summed_scalars = 4096;
  EXPECT_TRUE(widths_on(gpu(), adding(4096, 1, shared.table), tuning).summed);
  EXPECT_FALSE(widths_on(gpu(), adding(4096, 1, own.table), tuning).summed);
  tuning.least_summed_scalars = 4097;
  EXPECT_FALSE(widths_on(gpu(), adding(4096, 1, shared.table), tuning).summed);
}

TEST(Widths, SumsOfOneTargetAreGatheredIfManyTargetsAreAlike) {
  std::vector<std::int32_t> even;
  std::vector<std::int32_t> uneven;
  for (std::int32_t e = 0; e < 4096; ++e) {
    even.push_back(e / 4);
    uneven.push_back(e < 64 ? 0 : e % 1024);
  }
  const testing::TestMap<> alike(even, 1, 1024);
  const testing::TestMap<> apart(uneven, 1, 1024);
  const auto loop_to = [](const MapPointer& table, std::int64_t dim) {
    LoopSizes loop = adding(4096, dim, table);
    loop.maps[0].n_targets = 1024;
    return loop;
  };
  Tuning tuning = Tuning::of(DeviceClass::gpu);
  tuning.least_gathered_targets = 1024;
  const auto is_gathered = [&](const LoopSizes& loop, const Facts& facts = gpu()) {
    return widths_on(facts, loop, tuning).gathered;
  };
  EXPECT_TRUE(is_gathered(loop_to(alike.table, 4)));
  EXPECT_TRUE(is_gathered(loop_to(alike.table, 1)));
  LoopSizes own = loop_to(alike.table, 1);
  own.arguments.push_back({.data = 7, .n_scalars = 1, .n_rows = 4096, .row_scalars = 1});
  EXPECT_FALSE(is_gathered(own)) << "atomics add one value as fast as its element is looked up";
  own.arguments[0].n_scalars = 2;
  EXPECT_TRUE(is_gathered(own));
  EXPECT_FALSE(is_gathered(loop_to(apart.table, 4))) << "one target has 17 times the mean";
  EXPECT_FALSE(is_gathered(loop_to(nullptr, 4))) << "the elements of a target are not known";
  EXPECT_FALSE(is_gathered(loop_to(alike.table, 4), {})) << "the host has no atomics to avoid";
  LoopSizes two = loop_to(alike.table, 4);
  two.n_slots = 2;
  EXPECT_FALSE(is_gathered(two)) << "the kernel would run twice for an element";
  two.n_slots = 1;
  two.arguments[0].access = Access::min;
  EXPECT_TRUE(is_gathered(two));
  two.arguments[0].access = Access::write;
  EXPECT_FALSE(is_gathered(two));
  tuning.most_gathered = 17;
  EXPECT_TRUE(is_gathered(loop_to(apart.table, 4)));
  tuning.least_gathered_targets = 1025;
  EXPECT_FALSE(is_gathered(loop_to(alike.table, 4))) << "lanes would have nothing to do";
  tuning.least_gathered_targets = 1;
  tuning.gathered_scalars = 0;
  EXPECT_FALSE(is_gathered(loop_to(alike.table, 4))) << "switched off";
}

TEST(Widths, LanesAreScatteredByTheNumbersOfTheDevice) {
  std::vector<std::int32_t> targets;
  for (std::int32_t e = 0; e < 4096; ++e) targets.insert(targets.end(), {e, 8 * e % 4093});
  const testing::TestMap<> map(targets, 2, 4096);
  Tuning tuning = Tuning::of(DeviceClass::gpu);
  tuning.least_summed_scalars = 0;
  tuning.most_distinct = 1.0;
  tuning.most_scatter = 1.0;
  LoopSizes loop = adding(4096, 1, map.table);
  loop.maps[0].arity = 2;
  EXPECT_TRUE(widths_on(gpu(), loop, tuning).scattered);
  LoopSizes few = loop;
  few.n_entities = 63;
  EXPECT_TRUE(widths_on(gpu(), few, tuning).scattered);
  EXPECT_FALSE(widths_on(gpu(64), few, tuning).scattered) << "too few for a warp";
  tuning.sector_bytes = 8;  // whatever a lane touches is a sector
  EXPECT_FALSE(widths_on(gpu(), loop, tuning).scattered);
  tuning.most_scatter = 0;
  EXPECT_TRUE(widths_on(gpu(), loop, tuning).scattered);
}

TEST(Widths, AFunctionOfSeveralLoopsFitsAllOfThem) {
  PlanCache plans;
  LoopSizes whole = adding(100);
  whole.arguments[0].is_soa = true;
  std::vector<LoopSizes> members{adding(100), adding(big, 4)};
  members[1].n_slots = 16;
  const Widths widths = widths_of(whole, members, gpu(), Tuning::of(DeviceClass::gpu), plans, 1);
  EXPECT_EQ(widths.index_bytes, 8);
  EXPECT_EQ(widths.entry_bytes, 4) << "incidences of the first are counted";
  EXPECT_EQ(widths.soa, std::vector<int>{0});
  members.pop_back();
  EXPECT_EQ(widths_of(whole, members, gpu(), Tuning::of(DeviceClass::gpu), plans, 1).index_bytes,
            4);
}

TEST(UsefulBytes, AreBoundedByTheTarget) {
  const LoopSizes loop = adding(200, 2);
  EXPECT_EQ(useful_bytes({loop}), 200 * 4 + 2 * 100 * 16);
  const LoopSizes few = adding(20, 2);
  EXPECT_EQ(useful_bytes({few}), 20 * 4 + 2 * 20 * 16);
}

TEST(UsefulBytes, CountEachDatAndEachMapOnce) {
  LoopSizes loop = adding(200);
  loop.arguments.push_back(loop.arguments[0]);
  EXPECT_EQ(useful_bytes({loop}), 200 * 4 + 2 * 100 * 8);
  loop.arguments[1].access = Access::read;
  EXPECT_EQ(useful_bytes({loop}), 200 * 4 + 2 * 100 * 8) << "what is added to is read, too";
  loop.n_entities = 20;  // columns of 10 cells
  EXPECT_EQ(useful_bytes({loop}), 20 * 4 + 2 * 100 * 8);
}

TEST(UsefulBytes, OfAMatrixItsValuesAndPlaces) {
  LoopSizes loop = adding(10);
  loop.maps[0].arity = 3;
  loop.arguments[0] = {.data = 9,
                       .access = Access::inc,
                       .map = 0,
                       .columns = 0,
                       .target = 0,
                       .n_scalars = 9,
                       .matrix_bytes = 400,
                       .matrix_scalars = 50,
                       .position_bytes = 2};
  EXPECT_EQ(useful_bytes({loop}), 10 * 3 * 4 + 2 * 400 + 10 * 9 * 2);
}

TEST(UsefulBytes, MembersHandOnWhatTheyMake) {
  LoopSizes make = adding(100);
  make.arguments[0].map = make.arguments[0].target = -1;
  make.arguments[0].access = Access::write;
  LoopSizes use = make;
  use.arguments[0].access = Access::read;
  const std::vector<LoopSizes> both{make, use};
  EXPECT_EQ(useful_bytes(both), 800);
  EXPECT_EQ(useful_bytes(both, {}, {7}), 0);
  const std::vector<LoopSizes> twice{use, use};
  EXPECT_EQ(useful_bytes(twice), 800);
  EXPECT_EQ(useful_bytes(twice, {7}), 0);
}

}  // namespace
}  // namespace op2::plan
