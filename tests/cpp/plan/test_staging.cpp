// SPDX-License-Identifier: BSD-3-Clause
#include "plan/staging.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "maps.hpp"

namespace op2::plan {
namespace {

using testing::path_map;
using testing::random_map;
using testing::TestMap;

std::size_t at(std::int64_t index) {
  return static_cast<std::size_t>(index);
}

/// Every entry is where its block's list says, and lists are ascending.
void expect_lists(const StagedPlan& plan, const std::vector<MapPointer>& staged) {
  const std::size_t n_lists = staged.size();
  ASSERT_EQ(plan.lists.size(), n_lists);
  for (std::size_t b = 0; b < plan.first.size(); ++b) {
    for (std::size_t list = 0; list < n_lists; ++list) {
      const mesh::MapTable& map = *staged[list];
      const StagingList& lists = plan.lists[list];
      const auto begin = lists.targets.begin() + plan.first_target[b * n_lists + list];
      const auto end = begin + plan.n_targets[b * n_lists + list];
      EXPECT_TRUE(std::is_sorted(begin, end));
      EXPECT_EQ(std::adjacent_find(begin, end), end);
      std::set<std::int64_t> reached;
      for (std::int64_t n = plan.first[b]; n < plan.first[b] + plan.n_elements[b]; ++n) {
        for (int slot = 0; slot < map.arity(); ++slot) {
          reached.insert(map.at(n, slot));
          EXPECT_EQ(begin[lists.positions[at(n * map.arity() + slot)]], map.at(n, slot));
        }
      }
      EXPECT_EQ(std::vector<std::int64_t>(reached.begin(), reached.end()),
                std::vector<std::int64_t>(begin, end));
    }
  }
}

/// No two elements of one block and colour share a target.
void expect_thread_colours(const ConflictSet& loop, const StagedPlan& plan) {
  for (std::size_t b = 0; b < plan.first.size(); ++b) {
    std::set<std::tuple<int, int, std::int64_t>> seen;  // colour, space, target
    for (std::int64_t n = plan.first[b]; n < plan.first[b] + plan.n_elements[b]; ++n) {
      const std::int32_t colour = plan.thread_colour[at(n)];
      EXPECT_GE(colour, 0);
      EXPECT_LT(colour, plan.n_thread_colours[b]);
      std::set<std::tuple<int, int, std::int64_t>> own;
      for (const Conflict& conflict : loop.conflicts) {
        for (int slot = 0; slot < conflict.map->arity(); ++slot) {
          own.insert({colour, conflict.space, conflict.map->at(n, slot)});
        }
      }
      for (const auto& entry : own) EXPECT_TRUE(seen.insert(entry).second);
    }
  }
}

void expect_valid_staging(const ConflictSet& loop, const std::vector<MapPointer>& staged,
                          std::int64_t block_size) {
  const StagedPlan plan = stage(loop, staged, block_size, 1);
  const BlockPlan blocks = colour_blocks(loop, block_size, 1);
  EXPECT_EQ(plan.colour_offset, blocks.colour_offset);
  EXPECT_TRUE(std::equal(plan.block_of.begin(), plan.block_of.end(), blocks.block_of.begin(),
                         blocks.block_of.end()));
  expect_lists(plan, staged);
  expect_thread_colours(loop, plan);
  const StagedPlan again = stage(loop, staged, block_size, 3);
  EXPECT_EQ(plan.thread_colour, again.thread_colour);
  EXPECT_EQ(plan.first_target, again.first_target);
  for (std::size_t list = 0; list < staged.size(); ++list) {
    EXPECT_EQ(plan.lists[list].targets, again.lists[list].targets);
    EXPECT_EQ(plan.lists[list].positions, again.lists[list].positions);
  }
}

TEST(Stage, APath) {
  const TestMap<> edges = path_map(1000);
  expect_valid_staging({{1000, nullptr}, {{edges.table}}}, {edges.table}, 64);
}

TEST(Stage, SeveralMapsAndOneTwice) {
  const TestMap<> one = random_map(900, 3, 200, 0.2, false, 1);
  const TestMap<> two = random_map(900, 2, 50, 1.0, false, 2);
  expect_valid_staging({{900, nullptr}, {{one.table, all_slots, 0}, {two.table, all_slots, 1}}},
                       {one.table, two.table, one.table}, 37);
}

TEST(Stage, ManyElementsOfATargetNeedManyColours) {
  const TestMap<> hub(std::vector<std::int32_t>(200, 0), 1, 1);
  const ConflictSet loop{{200, nullptr}, {{hub.table}}};
  const StagedPlan plan = stage(loop, {hub.table}, 128, 1);
  EXPECT_EQ(plan.n_thread_colours, (std::vector<std::int32_t>{128, 72}));
  expect_valid_staging(loop, {hub.table}, 128);
}

TEST(Stage, WithoutMapsThereIsOneColour) {
  const StagedPlan plan = stage({{10, nullptr}, {}}, {}, 4, 1);
  EXPECT_EQ(plan.n_elements, (std::vector<std::int32_t>{4, 4, 2}));
  EXPECT_EQ(plan.n_thread_colours, (std::vector<std::int32_t>{1, 1, 1}));
}

TEST(Stage, ColoursTheElementsOfASubset) {
  const TestMap<> edges = path_map(8);
  const TestMap<> subset({1, 2, 5, 6}, 1, 8);
  const StagedPlan plan = stage({{4, subset.table}, {{edges.table}}}, {}, 4, 1);
  EXPECT_EQ(plan.thread_colour, (std::vector<std::int32_t>{0, 1, 0, 1}));
  EXPECT_TRUE(plan.lists.empty());
  EXPECT_THROW((void)stage({{4, subset.table}, {}}, {edges.table}, 4, 1), UsageError);
}

TEST(Stage, BlocksOfTheCoreComeFirst) {
  const auto map = random_map(200, 3, 90, 0.1, false, 2);
  for (const std::int64_t n_boundary : {1, 30, 199, 200}) {
    const ConflictSet loop{{200, nullptr, n_boundary}, {{map.table, all_slots, 0}}};
    const StagedPlan plan = stage(loop, {map.table}, 16, 1);
    expect_lists(plan, {map.table});
    expect_thread_colours(loop, plan);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(plan.block_of.size()); ++i) {
      const std::size_t block = at(plan.block_of[at(i)]);
      const std::int64_t end = plan.first[block] + plan.n_elements[block];
      if (i < plan.n_core_blocks) {
        EXPECT_LE(end, loop.elements.n_core());
      } else {
        EXPECT_GE(plan.first[block], loop.elements.n_core());
      }
    }
  }
}

TEST(Stage, NoElements) {
  const TestMap<> edges = path_map(3);
  const StagedPlan plan = stage({{0, nullptr}, {{edges.table}}}, {edges.table}, 4, 1);
  EXPECT_TRUE(plan.first.empty());
  EXPECT_EQ(plan.colour_offset, (std::vector<std::int64_t>{0}));
}

TEST(Stage, SaysWhatItCannotStage) {
  const TestMap<> edges = path_map(3);
  EXPECT_THROW((void)stage({{3, nullptr}, {{edges.table}}}, {edges.table}, 40000, 1), UsageError);
  const TestMap<> outside({0, -1}, 2, 4);
  EXPECT_THROW((void)stage({{1, nullptr}, {}}, {outside.table}, 4, 1), UsageError);
}

}  // namespace
}  // namespace op2::plan
