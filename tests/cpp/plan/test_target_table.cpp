// SPDX-License-Identifier: BSD-3-Clause
#include "plan/target_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "../base/message_of.hpp"
#include "base/error.hpp"
#include "maps.hpp"

namespace op2::plan {
namespace {

using op2::testing::message_of;
using testing::TestMap;

std::vector<std::int64_t> values_of(const TargetTable& table) {
  std::vector<std::int64_t> found;
  for (std::int64_t row = 0; row < table.map->n_rows(); ++row) {
    for (int slot = 0; slot < table.map->arity(); ++slot) found.push_back(table.map->at(row, slot));
  }
  return found;
}

/// Two columns of four levels over nodes that are numbered up the columns.
struct Columns {
  TestMap<> map{{0, 1, 10, 11}, 2, 20};
  TableSpec spec;

  Columns() {
    spec.map = map.table;
    spec.rows = {{0, 1}, {1, 1}};
    spec.n = 8;
    spec.n_visited = 4;
    spec.n_levels = 4;
  }
};

TEST(TargetTable, GoesUpTheColumns) {
  const Columns columns;
  const TargetTable table = target_table(columns.spec, 2);
  EXPECT_EQ(values_of(table),
            (std::vector<std::int64_t>{0, 1, 1, 2, 2, 3, 3, 4, 10, 11, 11, 12, 12, 13, 13, 14}));
  EXPECT_EQ(table.map->n_targets(), 20);
  EXPECT_EQ(table.map->index_bytes(), 4);
}

TEST(TargetTable, StartsAtALevel) {
  Columns columns;
  columns.spec.n = 2;
  columns.spec.n_visited = 1;
  columns.spec.first_level = 3;
  EXPECT_EQ(values_of(target_table(columns.spec, 1)), (std::vector<std::int64_t>{3, 4, 13, 14}));
}

TEST(TargetTable, VisitsSomeColumns) {
  const TestMap<> subset({1}, 1, 2);
  Columns columns;
  columns.spec.n = 4;
  columns.spec.columns = subset.table;
  columns.spec.rows = {{0, 2}};
  EXPECT_EQ(values_of(target_table(columns.spec, 1)), (std::vector<std::int64_t>{10, 12, 14, 16}));
}

TEST(TargetTable, WrapsAroundWhenPeriodic) {
  Columns columns;
  columns.spec.n = 4;
  columns.spec.periodic = true;
  columns.spec.rows = {{0, 1, 0}, {1, 1, 1}, {0, 1, 0, 1}};
  EXPECT_EQ(values_of(target_table(columns.spec, 1)),
            (std::vector<std::int64_t>{0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 0, 0}));
}

TEST(TargetTable, ReadsListsOfCells) {
  const TestMap<> cells({1, 0, 0}, 1, 2);
  const TestMap<> levels({2, 0, 1}, 1, 4);
  const TestMap<> bounds({0, 2, 1, 4}, 2, 5);
  Columns columns;
  columns.spec.n = 3;
  columns.spec.columns = cells.table;
  columns.spec.levels = levels.table;
  columns.spec.bounds = bounds.table;
  EXPECT_EQ(values_of(target_table(columns.spec, 1)),
            (std::vector<std::int64_t>{12, 13, 0, 1, 1, 2}));
}

TEST(TargetTable, RepeatsEntriesWithoutOffsets) {
  Columns columns;
  columns.spec.n_visited = 2;
  columns.spec.n = 4;
  columns.spec.rows.clear();
  EXPECT_EQ(values_of(target_table(columns.spec, 1)),
            (std::vector<std::int64_t>{0, 1, 0, 1, 10, 11, 10, 11}));
}

TEST(TargetTable, RefusesToLeaveTheTargets) {
  Columns columns;
  columns.spec.rows = {{0, 7}};
  EXPECT_EQ(message_of<UsageError>([&] { (void)target_table(columns.spec, 2); }),
            "plan: row 0 of the Map, entry 0, leads to 21 at level 3, but there are 20 targets; "
            "check the Map's offsets");
}

TEST(TargetTable, SaysWhichRowHasAnEntryThatIsNoTarget) {
  const TestMap<> map({0, 1, 2, 9}, 2, 5);
  TableSpec spec;
  spec.map = map.table;
  spec.rows = {{1, 0}, {0, 0}};
  spec.n = 2;
  EXPECT_EQ(message_of<UsageError>([&] { (void)target_table(spec, 1); }),
            "plan: row 1 of the Map, entry 1, leads to 9, but there are 5 targets; pass changed "
            "values to Map.update_values");
}

TEST(TargetTable, WhatLeadsNowhereDoesSoAtEveryLevel) {
  const TestMap<> map({-1, 1, 10, 11}, 2, 20);
  Columns columns;
  columns.spec.map = map.table;
  columns.spec.n_visited = 2;
  columns.spec.n = 4;
  EXPECT_EQ(values_of(target_table(columns.spec, 2)),
            (std::vector<std::int64_t>{-1, 1, -1, 2, 10, 11, 11, 12}));
}

}  // namespace
}  // namespace op2::plan
