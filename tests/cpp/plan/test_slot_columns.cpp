// SPDX-License-Identifier: BSD-3-Clause
#include "plan/slot_columns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "maps.hpp"

namespace op2::plan {
namespace {

using testing::entry_of;
using testing::path_map;
using testing::random_map;
using testing::TestMap;

InverseSpec sorted_by_slot(const std::vector<MapPointer>& maps) {
  InverseSpec spec{{maps.front()->n_rows(), nullptr}, {}, IncidenceOrder::by_slot};
  for (const MapPointer& map : maps) {
    for (int slot = 0; slot < map->arity(); ++slot) spec.occurrences.push_back({map, slot});
  }
  return spec;
}

/// Each target's incidences in the order in which its lane meets them.
std::map<std::int64_t, std::vector<std::int64_t>> met(const SlotColumns& columns) {
  std::map<std::int64_t, std::vector<std::int64_t>> rows;
  for (std::int64_t row = 0; row < columns.n_rows; ++row) rows[entry_of(columns.targets, row)];
  EXPECT_EQ(static_cast<std::int64_t>(rows.size()), columns.n_rows);
  for (std::int64_t group = 0; group < columns.n_groups(); ++group) {
    for (std::int64_t column = columns.column_offset[static_cast<std::size_t>(group)];
         column < columns.column_offset[static_cast<std::size_t>(group + 1)]; ++column) {
      for (int lane = 0; lane < columns.lanes; ++lane) {
        const std::int64_t element = entry_of(columns.elements, column * columns.lanes + lane);
        if (element < 0) continue;
        const std::int64_t row = group * columns.lanes + lane;
        rows.at(entry_of(columns.targets, row))
            .push_back(element * columns.n_occurrences +
                       columns.slot[static_cast<std::size_t>(column)]);
      }
    }
  }
  return rows;
}

void expect_every_incidence_once(const InverseSpec& spec, int lanes) {
  const InverseMap inverse = invert(spec, 1);
  const SlotColumns columns = slot_columns(inverse, {lanes}, 3);
  EXPECT_EQ(columns.n_groups(), (inverse.n_rows + lanes - 1) / lanes);
  EXPECT_EQ(columns.n_incidences, inverse.n_entries());
  const auto rows = met(columns);
  for (std::int64_t i = 0; i < inverse.n_rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const std::int64_t target = inverse.lists_rows ? entry_of(inverse.rows, i) : i;
    std::vector<std::int64_t> expected;
    for (std::int64_t e = inverse.offset[row]; e < inverse.offset[row + 1]; ++e) {
      expected.push_back(entry_of(inverse.entries, e));
    }
    EXPECT_EQ(rows.at(target), expected) << "target " << target;
  }
}

TEST(SlotColumns, EveryIncidenceIsMetOnceInTheOrderOfSlots) {
  for (const int lanes : {1, 2, 4, 8, 16}) {
    for (unsigned seed = 0; seed < 4; ++seed) {
      const TestMap<> map = random_map(257, 3, 60 + seed, 0.3, seed % 2 == 0, seed);
      const TestMap<> other = random_map(257, 2, 60 + seed, 1.0, true, seed + 9);
      expect_every_incidence_once(sorted_by_slot({map.table}), lanes);
      expect_every_incidence_once(sorted_by_slot({map.table, other.table}), lanes);
      InverseSpec touched = sorted_by_slot({map.table});
      touched.elements.n = 9;
      touched.touched_only = true;
      expect_every_incidence_once(touched, lanes);
    }
  }
}

TEST(SlotColumns, GroupsOfTheCoreComeFirst) {
  for (const int lanes : {1, 4, 16}) {
    for (const std::int64_t n_boundary : {0, 1, 60, 257}) {
      const TestMap<> map = random_map(257, 3, 400, 0.1, true, 7);
      InverseSpec spec = sorted_by_slot({map.table});
      spec.elements.n_boundary = n_boundary;
      expect_every_incidence_once(spec, lanes);
      const InverseMap inverse = invert(spec, 1);
      const SlotColumns columns = slot_columns(inverse, {lanes, 32}, 2);
      const bool is_all = inverse.n_core_rows == inverse.n_rows;
      EXPECT_EQ(columns.n_core_groups, is_all ? columns.n_groups() : inverse.n_core_rows / lanes);
      const std::int64_t n =
          columns.column_offset.at(static_cast<std::size_t>(columns.n_core_groups));
      for (std::int64_t i = 0; i < n * lanes; ++i) {
        const std::int64_t element = entry_of(columns.elements, i);
        EXPECT_LT(element < 0 ? -1 - element : element, spec.elements.n_core());
      }
    }
  }
}

TEST(SlotColumns, AGroupHasOfEachSlotTheMostThatOneRowNeeds) {
  const TestMap<> map = random_map(400, 3, 90, 0.5, true, 3);
  const InverseMap inverse = invert(sorted_by_slot({map.table}), 1);
  const SlotColumns columns = slot_columns(inverse, {8}, 1);
  for (std::int64_t group = 0; group < columns.n_groups(); ++group) {
    std::map<std::int64_t, std::int64_t> most;
    for (std::int64_t row = 8 * group; row < std::min<std::int64_t>(8 * group + 8, 90); ++row) {
      std::map<std::int64_t, std::int64_t> found;
      const auto r = static_cast<std::size_t>(entry_of(columns.targets, row));
      for (std::int64_t i = inverse.offset[r]; i < inverse.offset[r + 1]; ++i) {
        const std::int64_t slot = entry_of(inverse.entries, i) % 3;
        most[slot] = std::max(most[slot], ++found[slot]);
      }
    }
    std::map<std::int64_t, std::int64_t> widths;
    const auto g = static_cast<std::size_t>(group);
    for (std::int64_t i = columns.column_offset[g]; i < columns.column_offset[g + 1]; ++i) {
      ++widths[columns.slot[static_cast<std::size_t>(i)]];
    }
    EXPECT_EQ(widths, most) << "group " << group;
  }
}

TEST(SlotColumns, RowsThatAreAlikeComeSideBySideAndStayNear) {
  // even targets are first of three elements, odd ones second of three others
  std::vector<std::int32_t> values;
  for (int target = 0; target < 1000; ++target) {
    for (int i = 0; i < 3; ++i) {
      values.push_back(target % 2 == 0 ? target : -1);
      values.push_back(target % 2 == 0 ? -1 : target);
    }
  }
  const TestMap<> map(values, 2, 1000);
  const SlotColumns columns = slot_columns(invert(sorted_by_slot({map.table}), 1), {4}, 1);
  EXPECT_DOUBLE_EQ(columns.fill(), 1.0);
  for (std::int64_t row = 0; row < columns.n_rows; ++row) {
    EXPECT_EQ(entry_of(columns.targets, row) / 256, row / 256);
  }
  const SlotColumns near = slot_columns(invert(sorted_by_slot({map.table}), 1), {4, 16}, 1);
  EXPECT_DOUBLE_EQ(near.fill(), 1.0);
  for (std::int64_t row = 0; row < near.n_rows; ++row) {
    EXPECT_EQ(entry_of(near.targets, row) / 16, row / 16);
  }
}

TEST(SlotColumns, GapsRepeatAnElementOfTheirColumn) {
  const TestMap<> map = random_map(300, 2, 61, 1.0, true, 5);
  const SlotColumns columns = slot_columns(invert(sorted_by_slot({map.table}), 1), {4}, 2);
  std::int64_t n_gaps = 0;
  for (std::int64_t column = 0; column < columns.n_columns(); ++column) {
    std::vector<std::int64_t> here;
    for (int lane = 0; lane < 4; ++lane)
      here.push_back(entry_of(columns.elements, 4 * column + lane));
    for (const std::int64_t element : here) {
      if (element >= 0) continue;
      ++n_gaps;
      EXPECT_NE(std::find(here.begin(), here.end(), -1 - element), here.end());
    }
  }
  EXPECT_EQ(n_gaps, 4 * columns.n_columns() - columns.n_incidences);
  EXPECT_DOUBLE_EQ(columns.fill(), static_cast<double>(columns.n_incidences) /
                                       static_cast<double>(4 * columns.n_columns()));
}

TEST(SlotColumns, OfAnotherInverseHaveTheSameTargetsOnTheSameLanes) {
  const TestMap<> edges = random_map(400, 2, 90, 0.5, true, 3);
  const TestMap<> walls = random_map(20, 1, 90, 1.0, true, 4);
  const SlotColumns first = slot_columns(invert(sorted_by_slot({edges.table}), 1), {8}, 1);
  const InverseSpec spec = sorted_by_slot({walls.table});
  const InverseMap inverse = invert(spec, 1);
  SlotColumns further = slot_columns_like(inverse, first, 2);
  EXPECT_EQ(further.targets, IndexArray());  // they are the others'
  further.targets = first.targets;
  EXPECT_EQ(further.n_groups(), first.n_groups());
  EXPECT_EQ(further.n_incidences, inverse.n_entries());
  for (const auto& [target, found] : met(further)) {
    std::vector<std::int64_t> expected;
    const auto row = static_cast<std::size_t>(target);
    for (std::int64_t e = inverse.offset[row]; e < inverse.offset[row + 1]; ++e) {
      expected.push_back(entry_of(inverse.entries, e));
    }
    EXPECT_EQ(found, expected) << "target " << target;
  }
}

TEST(SlotColumns, OfAnotherInverseNeedARowForEachTarget) {
  const TestMap<> edges = random_map(400, 2, 90, 0.5, true, 3);
  const TestMap<> others = random_map(20, 1, 80, 1.0, true, 4);
  const SlotColumns first = slot_columns(invert(sorted_by_slot({edges.table}), 1), {8}, 1);
  EXPECT_THROW((void)slot_columns_like(invert(sorted_by_slot({others.table}), 1), first, 1),
               UsageError);
}

TEST(SlotColumns, DoNotDependOnThreads) {
  const TestMap<> map = random_map(50000, 3, 20000, 0.2, false, 6);
  const InverseMap inverse = invert(sorted_by_slot({map.table}), 1);
  const SlotColumns one = slot_columns(inverse, {2}, 1);
  const SlotColumns many = slot_columns(inverse, {2}, 5);
  EXPECT_EQ(one.targets, many.targets);
  EXPECT_EQ(one.column_offset, many.column_offset);
  EXPECT_EQ(one.slot, many.slot);
  EXPECT_EQ(one.elements, many.elements);
}

TEST(SlotColumns, OfNothingAreNone) {
  const TestMap<> none({}, 2, 5);
  const SlotColumns columns = slot_columns(invert(sorted_by_slot({none.table}), 1), {4}, 1);
  EXPECT_EQ(columns.n_groups(), 2);
  EXPECT_EQ(columns.n_columns(), 0);
  EXPECT_DOUBLE_EQ(columns.fill(), 1.0);
  EXPECT_EQ(columns.bytes(), 3 * 8 + 5 * 4);
}

TEST(SlotColumns, AskForTheRightOrderAndLanes) {
  const TestMap<> map = path_map(5);  // the table does not own the values
  InverseSpec spec = sorted_by_slot({map.table});
  EXPECT_THROW((void)slot_columns(invert(spec, 1), {0}, 1), UsageError);
  EXPECT_THROW((void)slot_columns(invert(spec, 1), {8, 12}, 1), UsageError);
  spec.order = IncidenceOrder::by_element;
  EXPECT_THROW((void)slot_columns(invert(spec, 1), {4}, 1), UsageError);
}

TEST(SlotColumns, InOrderRepeatTheLastRow) {
  const TestMap<> ends({0, 1, 2, 2, 2}, 1, 3);
  const InverseMap inverse = invert(sorted_by_slot({ends.table}), 1);
  const SlotColumns columns = slot_columns_in_order(inverse, 2, 3);
  EXPECT_EQ(columns.column_offset, (std::vector<std::int64_t>{0, 1, 4}));
  EXPECT_EQ(testing::widen(columns.elements), (std::vector<std::int64_t>{0, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_THROW((void)slot_columns_in_order(inverse, 0, 1), UsageError);
  InverseSpec touched = sorted_by_slot({ends.table});
  touched.touched_only = true;
  EXPECT_THROW((void)slot_columns_in_order(invert(touched, 1), 2, 1), UsageError);
}

}  // namespace
}  // namespace op2::plan
