// SPDX-License-Identifier: BSD-3-Clause
#include "plan/colouring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "maps.hpp"

namespace op2::plan {
namespace {

using testing::path_map;
using testing::random_map;
using testing::TestMap;

/// (space, target) pairs that the elements touch.
std::set<std::pair<int, std::int64_t>> touched(const std::vector<Conflict>& conflicts,
                                               const std::vector<std::int64_t>& elements) {
  std::set<std::pair<int, std::int64_t>> found;
  for (const Conflict& conflict : conflicts) {
    for (const std::int64_t element : elements) {
      for (int slot = 0; slot < conflict.map->arity(); ++slot) {
        if (conflict.slot != all_slots && conflict.slot != slot) continue;
        const std::int64_t target = conflict.map->at(element, slot);
        if (target >= 0) found.insert({conflict.space, target});
      }
    }
  }
  return found;
}

std::int64_t element_at(const ConflictSet& loop, std::int64_t position) {
  return loop.elements.subset ? loop.elements.subset->at(position, 0) : position;
}

/// Expect that the items are pairwise disjoint in what they touch.
void expect_disjoint(const std::vector<Conflict>& conflicts,
                     const std::vector<std::vector<std::int64_t>>& items) {
  std::set<std::pair<int, std::int64_t>> seen;
  for (const auto& item : items) {
    for (const auto& target : touched(conflicts, item)) EXPECT_TRUE(seen.insert(target).second);
  }
}

void expect_valid(const ConflictSet& loop, const BlockPlan& plan) {
  const std::int64_t n = loop.elements.n;
  const std::size_t n_blocks = plan.block_of.size();
  ASSERT_EQ(plan.block_offset.size(), n_blocks + 1);
  EXPECT_EQ(plan.block_offset.front(), 0);
  EXPECT_EQ(plan.block_offset.back(), n);
  for (std::size_t b = 0; b < n_blocks; ++b) {
    const std::int64_t size = plan.block_offset[b + 1] - plan.block_offset[b];
    EXPECT_GT(size, 0);
    const bool is_last = b + 1 == n_blocks || b + 1 == static_cast<std::size_t>(plan.n_core_blocks);
    const bool is_whole = size == plan.block_size || (loop.columns && size >= plan.block_size);
    EXPECT_TRUE(is_whole || (is_last && size < plan.block_size));
  }
  const auto n_core = static_cast<std::size_t>(plan.n_core_blocks);
  EXPECT_EQ(plan.block_offset.at(n_core), loop.elements.n_core());
  for (std::size_t i = 0; i < n_blocks; ++i) {
    EXPECT_EQ(plan.block_of[i] < plan.n_core_blocks, i < n_core) << "place " << i;
  }
  std::vector<std::int64_t> blocks = plan.block_of;
  std::sort(blocks.begin(), blocks.end());
  for (std::size_t b = 0; b < n_blocks; ++b) EXPECT_EQ(blocks[b], static_cast<std::int64_t>(b));
  EXPECT_EQ(plan.colour_offset.back(), static_cast<std::int64_t>(n_blocks));
  for (std::size_t c = 0; c + 1 < plan.colour_offset.size(); ++c) {
    std::vector<std::vector<std::int64_t>> items;
    for (std::int64_t i = plan.colour_offset[c]; i < plan.colour_offset[c + 1]; ++i) {
      const auto b = static_cast<std::size_t>(plan.block_of[static_cast<std::size_t>(i)]);
      items.emplace_back();
      for (std::int64_t k = plan.block_offset[b]; k < plan.block_offset[b + 1]; ++k) {
        items.back().push_back(element_at(loop, k));
      }
    }
    EXPECT_FALSE(items.empty());
    expect_disjoint(loop.conflicts, items);
  }
}

void expect_valid(const ConflictSet& loop, const ElementPlan& plan) {
  std::vector<std::int64_t> expected;
  for (std::int64_t k = 0; k < loop.elements.n; ++k) expected.push_back(element_at(loop, k));
  const std::vector<std::int64_t> elements = testing::widen(plan.elements);
  std::vector<std::int64_t> found = elements;
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, expected);
  EXPECT_EQ(plan.colour_offset.back(), loop.elements.n);
  std::set<std::int64_t> core;
  for (std::int64_t k = 0; k < loop.elements.n_core(); ++k) core.insert(element_at(loop, k));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    EXPECT_EQ(core.contains(elements[i]), i < core.size()) << "place " << i;
  }
  for (std::size_t c = 0; c + 1 < plan.colour_offset.size(); ++c) {
    std::vector<std::vector<std::int64_t>> items;
    for (std::int64_t i = plan.colour_offset[c]; i < plan.colour_offset[c + 1]; ++i) {
      items.push_back({elements[static_cast<std::size_t>(i)]});
    }
    EXPECT_FALSE(items.empty());
    expect_disjoint(loop.conflicts, items);
  }
}

TEST(ColourBlocks, OfAPathAlternate) {
  const auto map = path_map(10);
  const ConflictSet loop{{10, nullptr}, {{map.table, all_slots, 0}}};
  const BlockPlan plan = colour_blocks(loop, 4, 1);
  EXPECT_EQ(plan.block_offset, (std::vector<std::int64_t>{0, 4, 8, 10}));
  EXPECT_EQ(plan.colour_offset, (std::vector<std::int64_t>{0, 2, 3}));
  EXPECT_EQ(plan.block_of, (std::vector<std::int64_t>{0, 2, 1}));
  EXPECT_EQ(plan.statistics, (ColourStatistics{2, 1, 2, 11, 2}));
  EXPECT_EQ(plan.bytes(), 8 * (4 + 3 + 3));
}

TEST(ColourBlocks, ValidForEveryLocalityAndBlockSize) {
  for (const double spread : {0.001, 0.02, 1.0}) {
    const auto map = random_map(3000, 3, 1000, spread, true, 1);
    const ConflictSet loop{{3000, nullptr}, {{map.table, all_slots, 0}}};
    for (const std::int64_t block_size : {1, 7, 64, 1000, 3000, 5000}) {
      expect_valid(loop, colour_blocks(loop, block_size, 1));
    }
  }
}

TEST(ColourBlocks, TheCoreComesFirst) {
  const auto map = path_map(10);
  const ConflictSet loop{{10, nullptr, 4}, {{map.table, all_slots, 0}}};
  const BlockPlan plan = colour_blocks(loop, 4, 1);
  EXPECT_EQ(plan.block_offset, (std::vector<std::int64_t>{0, 4, 6, 10}));
  EXPECT_EQ(plan.n_core_blocks, 2);
  EXPECT_EQ(plan.colour_offset, (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(plan.statistics, (ColourStatistics{3, 1, 1, 11, 2}));
}

TEST(ColourBlocks, ValidForEveryBoundary) {
  for (const double spread : {0.02, 1.0}) {
    const auto map = random_map(300, 3, 100, spread, true, 5);
    for (const std::int64_t n_boundary : {0, 1, 7, 150, 299, 300}) {
      const ConflictSet loop{{300, nullptr, n_boundary}, {{map.table, all_slots, 0}}};
      for (const std::int64_t block_size : {1, 7, 300, 1000}) {
        expect_valid(loop, colour_blocks(loop, block_size, 1));
      }
      expect_valid(loop, colour_elements(loop, 3));
    }
  }
}

TEST(ColourBlocks, WithoutConflictsPartsStillHaveColoursOfTheirOwn) {
  const BlockPlan plan = colour_blocks({{10, nullptr, 3}, {}}, 100, 1);
  EXPECT_EQ(plan.block_offset, (std::vector<std::int64_t>{0, 7, 10}));
  EXPECT_EQ(plan.colour_offset, (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(ColourBlocks, RefuseMoreBoundaryThanElements) {
  for (const std::int64_t n_boundary : {-1, 11}) {
    EXPECT_THROW((void)colour_blocks({{10, nullptr, n_boundary}, {}}, 4, 1), UsageError);
  }
}

TEST(ColourBlocks, NoConflictsNeedOneColour) {
  const ConflictSet loop{{10, nullptr}, {}};
  EXPECT_EQ(colour_blocks(loop, 3, 1).statistics.n_colours, 1);
}

TEST(ColourBlocks, EmptySetHasNoBlocks) {
  const auto map = path_map(0);
  const BlockPlan plan = colour_blocks({{0, nullptr}, {{map.table, all_slots, 0}}}, 8, 2);
  EXPECT_EQ(plan.block_offset, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(plan.colour_offset, (std::vector<std::int64_t>{0}));
  EXPECT_TRUE(plan.block_of.empty());
}

TEST(ColourBlocks, UnlimitedColours) {
  const TestMap<> star(std::vector<std::int32_t>(500, 0), 1, 1);
  const ConflictSet loop{{500, nullptr}, {{star.table, all_slots, 0}}};
  const BlockPlan plan = colour_blocks(loop, 1, 1);
  EXPECT_EQ(plan.statistics.n_colours, 500);
  EXPECT_EQ(plan.statistics.n_shared, 1);
  expect_valid(loop, plan);
}

TEST(ColourBlocks, RefusesANonPositiveBlockSize) {
  EXPECT_THROW((void)colour_blocks({{10, nullptr}, {}}, 0, 1), UsageError);
}

TEST(ColourElements, FirstFitOfAPath) {
  const auto map = path_map(6);
  const ConflictSet loop{{6, nullptr}, {{map.table, all_slots, 0}}};
  const ElementPlan plan = colour_elements(loop, 1);
  EXPECT_EQ(plan.colour_offset, (std::vector<std::int64_t>{0, 3, 6}));
  EXPECT_EQ(testing::widen(plan.elements), (std::vector<std::int64_t>{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(plan.statistics, (ColourStatistics{2, 3, 3, 7, 5}));
}

TEST(ColourElements, ValidForEveryLocality) {
  for (const double spread : {0.001, 0.02, 1.0}) {
    for (const bool with_negative : {false, true}) {
      const auto map = random_map(4000, 4, 900, spread, with_negative, 2);
      const ConflictSet loop{{4000, nullptr}, {{map.table, all_slots, 0}}};
      expect_valid(loop, colour_elements(loop, 1));
    }
  }
}

TEST(ColourElements, ColoursAreEven) {
  const auto map = random_map(20000, 2, 10000, 0.01, false, 3);
  const ElementPlan plan = colour_elements({{20000, nullptr}, {{map.table, all_slots, 0}}}, 1);
  const double mean = 20000.0 / static_cast<double>(plan.statistics.n_colours);
  EXPECT_GT(static_cast<double>(plan.statistics.n_items_min), 0.8 * mean);
  EXPECT_LT(static_cast<double>(plan.statistics.n_items_max), 1.2 * mean);
}

TEST(ColourElements, MoreColoursThanAMaskHolds) {
  // Two hubs of 300 elements each, and elements that touch both.
  std::vector<std::int32_t> values;
  for (std::int32_t e = 0; e < 600; ++e) {
    values.push_back(e % 2);
    values.push_back(e % 50 == 0 ? 1 : 2 + e);
  }
  const TestMap<> map(values, 2, 602);
  const ConflictSet loop{{600, nullptr}, {{map.table, all_slots, 0}}};
  const ElementPlan plan = colour_elements(loop, 1);
  EXPECT_GE(plan.statistics.n_colours, 300);
  EXPECT_LE(plan.statistics.n_colours, 324);
  expect_valid(loop, plan);
}

TEST(ColourElements, ATargetTwiceInOneElementIsNoConflict) {
  const TestMap<> map({0, 0, 1, 1}, 2, 2);
  EXPECT_EQ(colour_elements({{2, nullptr}, {{map.table, all_slots, 0}}}, 1).statistics.n_colours,
            1);
}

TEST(ColourElements, MapsOfOneSpaceConflictAndOfTwoDoNot) {
  const TestMap<> left({0, 1}, 1, 2);
  const TestMap<> right({1, 0}, 1, 2);
  const ConflictSet same{{2, nullptr}, {{left.table, all_slots, 0}, {right.table, all_slots, 0}}};
  const ConflictSet apart{{2, nullptr}, {{left.table, all_slots, 0}, {right.table, all_slots, 1}}};
  EXPECT_EQ(colour_elements(same, 1).statistics.n_colours, 2);
  EXPECT_EQ(colour_elements(apart, 1).statistics.n_colours, 1);
}

TEST(ColourElements, OnlyTheConflictingSlotCounts) {
  const auto map = path_map(5);
  EXPECT_EQ(colour_elements({{5, nullptr}, {{map.table, 1, 0}}}, 1).statistics.n_colours, 1);
}

TEST(Colouring, OfSubsets) {
  const auto map = random_map<std::int64_t>(500, 3, 200, 0.05, false, 4);
  std::vector<std::int64_t> chosen;
  for (std::int64_t e = 499; e >= 0; e -= 3) chosen.push_back(e);
  const TestMap<std::int64_t> subset(chosen, 1, 500);
  const ConflictSet loop{{static_cast<std::int64_t>(chosen.size()), subset.table},
                         {{map.table, all_slots, 0}}};
  expect_valid(loop, colour_blocks(loop, 16, 1));
  expect_valid(loop, colour_elements(loop, 1));
}

TEST(Colouring, MixedIndexWidthsAndSpaces) {
  const auto narrow = random_map<std::int32_t>(2000, 2, 700, 0.05, true, 5);
  const auto wide = random_map<std::int64_t>(2000, 3, 700, 0.05, true, 6);
  const auto other = random_map<std::int32_t>(2000, 1, 90, 0.05, true, 7);
  const ConflictSet loop{{2000, nullptr},
                         {{narrow.table, all_slots, 3}, {wide.table, 2, 3}, {other.table, 0, 1}}};
  expect_valid(loop, colour_blocks(loop, 32, 1));
  expect_valid(loop, colour_elements(loop, 1));
}

/// 100 columns of 7 cells, whose neighbours meet: column c of cells leads to c, and to c + 1.
TEST(Colouring, KeepsTheOrderOfColumns) {
  std::vector<std::int64_t> column_of, ends;
  for (std::int64_t cell = 0; cell < 700; ++cell) {
    column_of.push_back(cell / 7);
    ends.push_back(cell / 7);
    ends.push_back(cell / 7 + 1);
  }
  const TestMap<std::int64_t> columns(column_of, 1, 100);
  const TestMap<std::int64_t> both(ends, 2, 101);
  ConflictSet loop{{700, nullptr}, {{columns.table, all_slots, 0}, {both.table, all_slots, 1}}};
  loop.columns = columns.table;
  for (const std::int64_t size : {3, 7, 64, 1000}) {
    const BlockPlan plan = colour_blocks(loop, size, 1);
    expect_valid(loop, plan);
    for (const std::int64_t begin : plan.block_offset) EXPECT_EQ(begin % 7, 0) << size;
  }
  for (ConflictSet some : {loop, ConflictSet{{700, nullptr}, {{columns.table, all_slots, 0}}}}) {
    some.columns = columns.table;
    const ElementPlan plan = colour_elements(some, 1);
    expect_valid(some, plan);
    std::vector<std::int64_t> colour_of(700);
    for (std::size_t colour = 0; colour + 1 < plan.colour_offset.size(); ++colour) {
      for (std::int64_t i = plan.colour_offset[colour]; i < plan.colour_offset[colour + 1]; ++i) {
        const auto cell = std::visit(
            [i](const auto& all) {
              return static_cast<std::size_t>(all[static_cast<std::size_t>(i)]);
            },
            plan.elements);
        colour_of[cell] = static_cast<std::int64_t>(colour);
      }
    }
    for (std::size_t cell = 1; cell < 700; ++cell) {
      if (cell % 7 != 0) {
        EXPECT_GT(colour_of[cell], colour_of[cell - 1]) << cell;
      }
    }
  }
}

TEST(Colouring, DoesNotDependOnThreads) {
  const auto map = random_map(100000, 2, 60000, 0.001, false, 8);
  const ConflictSet loop{{100000, nullptr}, {{map.table, all_slots, 0}}};
  const BlockPlan blocks = colour_blocks(loop, 2, 1);
  const ElementPlan elements = colour_elements(loop, 1);
  for (const int n_threads : {2, 5}) {
    const BlockPlan other_blocks = colour_blocks(loop, 2, n_threads);
    EXPECT_EQ(other_blocks.block_of, blocks.block_of);
    EXPECT_EQ(other_blocks.colour_offset, blocks.colour_offset);
    EXPECT_EQ(other_blocks.statistics, blocks.statistics);
    const ElementPlan other_elements = colour_elements(loop, n_threads);
    EXPECT_EQ(other_elements.elements, elements.elements);
    EXPECT_EQ(other_elements.colour_offset, elements.colour_offset);
    EXPECT_EQ(other_elements.statistics, elements.statistics);
  }
}

}  // namespace
}  // namespace op2::plan
