// SPDX-License-Identifier: BSD-3-Clause
#include "plan/plan_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "maps.hpp"

namespace op2::plan {
namespace {

using testing::path_map;
using testing::TestMap;

ConflictSet loop_of(std::int64_t n, std::vector<Conflict> conflicts, MapPointer subset = nullptr) {
  ConflictSet loop;
  loop.elements.n = n;
  loop.elements.subset = std::move(subset);
  loop.conflicts = std::move(conflicts);
  return loop;
}

InverseSpec request_of(const MapPointer& map) {
  InverseSpec spec;
  spec.elements.n = map->n_rows();
  spec.occurrences = {{map, 0}, {map, 1}};
  spec.order = IncidenceOrder::by_slot;
  return spec;
}

TEST(PlanCache, FindsWhatItBuilt) {
  PlanCache cache;
  const auto map = path_map(20);
  const ConflictSet loop = loop_of(20, {{map.table, all_slots, 0}});
  const auto first = cache.blocks(loop, 4, 1);
  EXPECT_EQ(cache.blocks(loop, 4, 2), first);
  EXPECT_EQ(cache.elements(loop, 1), cache.elements(loop, 1));
  EXPECT_EQ(cache.inverse(request_of(map.table), 1), cache.inverse(request_of(map.table), 1));
  EXPECT_EQ(cache.padded(request_of(map.table), 1), cache.padded(request_of(map.table), 1));
  EXPECT_EQ(cache.facts(map.table, 20, 1), cache.facts(map.table, 20, 1));
  const auto columns = cache.columns(request_of(map.table), {4}, 1);
  EXPECT_EQ(cache.columns(request_of(map.table), {4}, 2), columns);
  EXPECT_NE(cache.columns(request_of(map.table), {4, 64}, 1), columns);
  const PlanCache::Statistics statistics = cache.statistics();
  EXPECT_EQ(statistics.hits, 9);  // padded rows and columns share the inverse
  EXPECT_EQ(statistics.misses, 7);
  EXPECT_EQ(statistics.n_plans, 7);
  EXPECT_GT(statistics.bytes, first->bytes());
}

TEST(PlanCache, ComposedMapsShareTheirColumns) {
  PlanCache cache;
  const auto map = path_map(20);
  const TestMap<> other(std::vector<std::int32_t>(20, 3), 1, 5);
  const InverseSpec spec = request_of(map.table);
  const auto own = cache.composed(map.table, spec, {4}, 4, 1);
  EXPECT_EQ(cache.composed(map.table, spec, {4}, 4, 2), own);
  EXPECT_EQ(cache.statistics().n_plans, 3);  // the inverse, too
  const auto columns = cache.columns(spec, {4}, 1);
  EXPECT_EQ(cache.statistics().bytes,
            cache.inverse(spec, 1)->bytes() + columns->bytes() + bytes_of(*own));
  EXPECT_NE(cache.composed(map.table, spec, {8}, 4, 1), own);
  EXPECT_NE(cache.composed(map.table, spec, {4}, 8, 1), own);
  EXPECT_NE(cache.composed(other.table, spec, {4}, 4, 1), own);
  EXPECT_EQ(cache.statistics().n_plans, 7);
}

TEST(PlanCache, PairsShareTheirInverse) {
  PlanCache cache;
  const auto map = path_map(20);
  const InverseSpec spec = request_of(map.table);
  const auto pairs = cache.pairs(spec, {}, 1);
  EXPECT_EQ(cache.pairs(spec, {}, 2), pairs);
  EXPECT_EQ(cache.statistics().n_plans, 2);
  EXPECT_NE(cache.pairs(spec, {.width = 4, .lanes = 0}, 1), pairs);
  const auto rows = cache.composed_pairs(map.table, spec, {}, 4, 1);
  EXPECT_EQ(cache.composed_pairs(map.table, spec, {}, 4, 2), rows);
  EXPECT_NE(cache.composed_pairs(map.table, spec, {.width = 4, .lanes = 0}, 4, 1), rows);
  EXPECT_EQ(cache.statistics().n_plans, 5);
}

TEST(PlanCache, CornersShareTheirInverse) {
  PlanCache cache;
  const auto map = path_map(20);
  const auto of_targets = testing::random_map(21, 3, 21, 1.0, false, 1);
  const auto others = testing::random_map(21, 3, 21, 1.0, false, 1);
  const InverseSpec spec = request_of(map.table);
  const auto codes = cache.corners(map.table, of_targets.table, spec, {}, 1);
  EXPECT_EQ(cache.corners(map.table, of_targets.table, spec, {}, 2), codes);
  EXPECT_NE(cache.corners(map.table, others.table, spec, {}, 1), codes);
  EXPECT_NE(cache.corners(map.table, of_targets.table, spec, {.width = 4, .lanes = 0}, 1), codes);
  EXPECT_EQ(cache.statistics().n_plans, 4);
  const double part = cache.part_elsewhere(map.table, of_targets.table, spec, {}, 1);
  const auto misses = cache.statistics().misses;
  EXPECT_DOUBLE_EQ(cache.part_elsewhere(map.table, of_targets.table, spec, {}, 2), part);
  EXPECT_EQ(cache.statistics().misses, misses);
}

TEST(PlanCache, PartsOfColumnsOfGroupsAreCounted) {
  PlanCache cache;
  const auto map = path_map(7);  // 8 targets in a row
  const auto same = testing::random_map(8, 1, 1, 1.0, false, 1);
  const auto of_elements = testing::random_map(7, 1, 1, 1.0, false, 1);
  InverseSpec spec = request_of(map.table);
  spec.order = IncidenceOrder::by_slot;
  const PairLayout layout{.width = 0, .lanes = 4};
  // each end of the path lacks a neighbour, in one of two columns
  EXPECT_DOUBLE_EQ(cache.part_mixed(spec, layout, 1), 0.5);
  EXPECT_DOUBLE_EQ(cache.part_elsewhere(of_elements.table, same.table, spec, layout, 1), 0.0);
  const auto misses = cache.statistics().misses;
  EXPECT_DOUBLE_EQ(cache.part_mixed(spec, layout, 2), 0.5);
  EXPECT_EQ(cache.statistics().misses, misses);
}

TEST(PlanCache, ColumnsThatAreNotFullEnoughAreNotKept) {
  PlanCache cache;
  const auto map = path_map(20);
  const InverseSpec spec = request_of(map.table);
  const double fill = cache.column_fill(spec, {4}, 1.5, 1);
  EXPECT_EQ(cache.statistics().n_plans, 2);
  const PlanCache::Statistics before = cache.statistics();
  EXPECT_DOUBLE_EQ(cache.columns(spec, {4}, 1)->fill(), fill);
  EXPECT_EQ(cache.statistics().misses, before.misses + 1);
  EXPECT_DOUBLE_EQ(cache.column_fill(spec, {4}, 1.5, 1), fill);
  EXPECT_EQ(cache.statistics().misses, before.misses + 1);
  (void)cache.column_fill(spec, {8}, 0.0, 1);
  EXPECT_EQ(cache.statistics().n_plans, 5);
  const std::int64_t misses = cache.statistics().misses;
  (void)cache.columns(spec, {8}, 1);
  EXPECT_EQ(cache.statistics().misses, misses);
}

TEST(PlanCache, LoopsWithTheSameConstraintsShareAPlan) {
  PlanCache cache;
  const auto map = path_map(20);
  const auto one = cache.blocks(loop_of(20, {{map.table, all_slots, 0}}), 4, 1);
  const auto two = cache.blocks(
      loop_of(20, {{map.table, all_slots, 5}, {map.table, 0, 5}, {map.table, all_slots, 9}}), 4, 1);
  EXPECT_EQ(one, two);
}

TEST(PlanCache, EveryPartOfTheSpecificationCounts) {
  PlanCache cache;
  const auto map = path_map(20);
  const auto twin = path_map(20);
  const TestMap<> subset({0, 1, 2, 3, 4}, 1, 20);
  const Conflict all{map.table, all_slots, 0};
  (void)cache.blocks(loop_of(20, {all}), 4, 1);
  (void)cache.blocks(loop_of(20, {all}), 5, 1);
  (void)cache.blocks(loop_of(19, {all}), 4, 1);
  (void)cache.blocks(loop_of(5, {all}), 4, 1);
  (void)cache.blocks(loop_of(5, {all}, subset.table), 4, 1);
  (void)cache.blocks(loop_of(20, {{map.table, 0, 0}}), 4, 1);
  (void)cache.blocks(loop_of(20, {{map.table, 0, 0}, {map.table, 1, 1}}), 4, 1);
  (void)cache.blocks(loop_of(20, {{twin.table, all_slots, 0}}), 4, 1);
  (void)cache.elements(loop_of(20, {all}), 1);
  InverseSpec spec = request_of(map.table);
  (void)cache.inverse(spec, 1);
  spec.order = IncidenceOrder::by_element;
  (void)cache.inverse(spec, 1);
  spec.touched_only = true;
  (void)cache.inverse(spec, 1);
  spec.origin = EntryOrigin::position;
  (void)cache.inverse(spec, 1);
  std::swap(spec.occurrences[0], spec.occurrences[1]);
  (void)cache.inverse(spec, 1);
  (void)cache.padded(spec, 1);
  (void)cache.padded(request_of(map.table), 1);
  (void)cache.facts(map.table, 20, 1);
  (void)cache.facts(map.table, 19, 1);
  EXPECT_EQ(cache.statistics().hits, 2);  // inverses of the padded ones
  EXPECT_EQ(cache.statistics().n_plans, 18);
}

TEST(PlanCache, AChangedMapIsAnotherMap) {
  PlanCache cache;
  auto map = path_map(4);
  EXPECT_EQ(cache.largest_degree(map.table, 4, {}, 1), 2);
  std::fill(map.values.begin(), map.values.end(), 0);
  map.table->increment_version();
  EXPECT_EQ(cache.largest_degree(map.table, 4, {}, 1), 8);
  EXPECT_EQ(cache.statistics().n_plans, 1);
  EXPECT_EQ(cache.largest_degree(map.table, 4, {1}, 1), 4);
  EXPECT_EQ(cache.statistics().n_plans, 2);
}

TEST(PlanCache, DropsThePlansOfADeadMap) {
  PlanCache cache;
  std::weak_ptr<const BlockPlan> watched;
  {
    const auto map = path_map(4);
    const auto plan = cache.blocks(loop_of(4, {{map.table, all_slots, 0}}), 2, 1);
    watched = plan;
    EXPECT_EQ(cache.statistics().n_plans, 1);
  }
  EXPECT_EQ(cache.statistics().n_plans, 0);
  EXPECT_TRUE(watched.expired());
}

TEST(PlanCache, DoesNotTakeANewMapForADeadOne) {
  // The second table is built in the place of the first, so that both have one address.
  PlanCache cache;
  alignas(mesh::MapTable) unsigned char room[sizeof(mesh::MapTable)];
  const std::vector<std::int32_t> once{0, 1};
  const std::vector<std::int32_t> twice{0, 0};
  for (const auto& [values, degree] : {std::pair{&once, 1}, std::pair{&twice, 2}}) {
    const std::shared_ptr<mesh::MapTable> map(
        ::new (static_cast<void*>(room)) mesh::MapTable(values->data(), 4, 2, 1, 2),
        [](mesh::MapTable* table) { std::destroy_at(table); });
    EXPECT_EQ(cache.largest_degree(map, 2, {}, 1), degree);
  }
  EXPECT_EQ(cache.statistics().misses, 2);
}

TEST(PlanCache, APlanOutlivesTheCacheWithItsUser) {
  PlanCache cache;
  const auto map = path_map(4);
  const auto plan = cache.blocks(loop_of(4, {{map.table, all_slots, 0}}), 2, 1);
  cache.clear();
  EXPECT_EQ(cache.statistics().misses, 0);
  EXPECT_EQ(plan->block_offset.back(), 4);
}

TEST(PlanCache, ThreadsBuildAPlanOnce) {
  PlanCache cache;
  const auto map = path_map(2000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&cache, &map] {
      (void)cache.blocks(loop_of(2000, {{map.table, all_slots, 0}}), 16, 2);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cache.statistics().misses, 1);
  EXPECT_EQ(cache.statistics().hits, 3);
}

TEST(PlanCache, ThreadsShareWhatPlansAreMadeFrom) {
  PlanCache cache;
  const auto map = path_map(5000);
  const InverseSpec spec = request_of(map.table);
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&cache, &spec, &map, i] {
      if (i % 3 == 0) (void)cache.padded(spec, 2);
      if (i % 3 == 1) (void)cache.columns(spec, {4}, 2);
      if (i % 3 == 2) (void)cache.composed(map.table, spec, {4}, 4, 2);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cache.statistics().misses, 4);  // inverse, padded, columns, composed
  EXPECT_EQ(cache.statistics().n_plans, 4);
}

TEST(PlanCache, AFailedBuildLeavesNothing) {
  PlanCache cache;
  const auto map = path_map(4);
  EXPECT_THROW((void)cache.facts(map.table, 5, 1), std::exception);
  EXPECT_EQ(cache.statistics().n_plans, 0);
}

}  // namespace
}  // namespace op2::plan
