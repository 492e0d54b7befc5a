// SPDX-License-Identifier: BSD-3-Clause
#include "plan/inverse.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "maps.hpp"

namespace op2::plan {
namespace {

using testing::path_map;
using testing::RaggedTestMap;
using testing::random_map;
using testing::TestMap;

/// The rows that invert() promises, from the definition: one list of entries a target.
std::vector<std::vector<std::int64_t>> expected_rows(const InverseSpec& spec) {
  using Incidence = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // sort keys, entry
  const auto width = static_cast<std::int64_t>(spec.occurrences.size());
  std::vector<std::vector<Incidence>> rows(
      static_cast<std::size_t>(spec.occurrences.front().map->n_targets()));
  for (std::int64_t k = 0; k < spec.elements.n; ++k) {
    const std::int64_t element = spec.elements.subset ? spec.elements.subset->at(k, 0) : k;
    for (std::int64_t o = 0; o < width; ++o) {
      const Occurrence& occurrence = spec.occurrences[static_cast<std::size_t>(o)];
      const std::int64_t target = occurrence.map->at(element, occurrence.slot);
      if (target < 0) continue;
      const std::int64_t entry = (spec.origin == EntryOrigin::element ? element : k) * width + o;
      const bool by_slot = spec.order == IncidenceOrder::by_slot;
      rows[static_cast<std::size_t>(target)].emplace_back(by_slot ? o : k, by_slot ? k : o, entry);
    }
  }
  std::vector<std::vector<std::int64_t>> entries;
  for (auto& row : rows) {
    std::sort(row.begin(), row.end());
    if (row.empty() && spec.touched_only) continue;
    entries.emplace_back();
    for (const auto& incidence : row) entries.back().push_back(std::get<2>(incidence));
  }
  return entries;
}

std::vector<std::vector<std::int64_t>> rows_of(const InverseMap& inverse) {
  const std::vector<std::int64_t> entries = testing::widen(inverse.entries);
  std::vector<std::vector<std::int64_t>> rows;
  for (std::size_t r = 0; r + 1 < inverse.offset.size(); ++r) {
    rows.emplace_back(entries.begin() + inverse.offset[r], entries.begin() + inverse.offset[r + 1]);
  }
  return rows;
}

std::vector<std::vector<std::int64_t>> rows_of(const PaddedInverse& padded) {
  const std::vector<std::int64_t> columns = testing::widen(padded.columns);
  std::vector<std::vector<std::int64_t>> rows(static_cast<std::size_t>(padded.n_rows));
  for (std::int64_t column = 0; column < padded.width; ++column) {
    for (std::int64_t row = 0; row < padded.n_rows; ++row) {
      const std::int64_t entry = columns[static_cast<std::size_t>(column * padded.n_rows + row)];
      if (entry >= 0) rows[static_cast<std::size_t>(row)].push_back(entry);
    }
  }
  return rows;
}

InverseSpec spec_of(std::int64_t n, const MapPointer& map, IncidenceOrder order) {
  InverseSpec spec;
  spec.elements.n = n;
  for (int slot = 0; slot < map->arity(); ++slot) spec.occurrences.push_back({map, slot});
  spec.order = order;
  return spec;
}

TEST(Invert, APath) {
  const auto map = path_map(3);
  const InverseMap inverse = invert(spec_of(3, map.table, IncidenceOrder::by_element), 1);
  EXPECT_EQ(inverse.offset, (std::vector<std::int64_t>{0, 1, 3, 5, 6}));
  EXPECT_EQ(testing::widen(inverse.entries), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(inverse.degree_max, 2);
  EXPECT_DOUBLE_EQ(inverse.degree_mean(), 1.5);
  EXPECT_EQ(inverse.bytes(), 5 * 8 + 6 * 4);
  const InverseMap by_slot = invert(spec_of(3, map.table, IncidenceOrder::by_slot), 1);
  EXPECT_EQ(testing::widen(by_slot.entries), (std::vector<std::int64_t>{0, 2, 1, 4, 3, 5}));
}

TEST(Invert, EqualsItsDefinition) {
  for (const auto order : {IncidenceOrder::by_element, IncidenceOrder::by_slot}) {
    for (const double spread : {0.01, 1.0}) {
      const auto map = random_map(30000, 3, 20000, spread, true, 1);
      const InverseSpec spec = spec_of(30000, map.table, order);
      const auto expected = expected_rows(spec);
      for (const int n_threads : {1, 2, 5}) {
        EXPECT_EQ(rows_of(invert(spec, n_threads)), expected);
      }
    }
  }
}

TEST(Invert, SeveralMapsOfAnyWidthAndSomeOfTheirSlots) {
  const auto narrow = random_map<std::int32_t>(400, 3, 150, 0.05, true, 2);
  const auto wide = random_map<std::int64_t>(400, 2, 150, 0.05, true, 3);
  InverseSpec spec;
  spec.elements.n = 390;
  spec.occurrences = {{wide.table, 1}, {narrow.table, 2}, {narrow.table, 0}};
  for (const auto order : {IncidenceOrder::by_element, IncidenceOrder::by_slot}) {
    spec.order = order;
    EXPECT_EQ(rows_of(invert(spec, 2)), expected_rows(spec));
  }
}

TEST(Invert, ASubsetByElementOrByPosition) {
  const auto map = random_map(300, 2, 100, 0.05, false, 4);
  const TestMap<> subset({250, 3, 4, 90, 91, 17}, 1, 300);
  InverseSpec spec = spec_of(6, map.table, IncidenceOrder::by_element);
  spec.elements.subset = subset.table;
  for (const auto origin : {EntryOrigin::element, EntryOrigin::position}) {
    for (const bool touched_only : {false, true}) {
      spec.origin = origin;
      spec.touched_only = touched_only;
      EXPECT_EQ(rows_of(invert(spec, 1)), expected_rows(spec));
    }
  }
}

TEST(Invert, TouchedOnlyNamesTheTargets) {
  const TestMap<> map({7, 3, 3, -1}, 1, 10);
  InverseSpec spec = spec_of(4, map.table, IncidenceOrder::by_element);
  spec.touched_only = true;
  const InverseMap inverse = invert(spec, 1);
  EXPECT_EQ(testing::widen(inverse.rows), (std::vector<std::int64_t>{3, 7}));
  EXPECT_EQ(rows_of(inverse), (std::vector<std::vector<std::int64_t>>{{1, 2}, {0}}));
}

/// The rows of the spec without a boundary, those whose entries are all before it first.
std::vector<std::vector<std::int64_t>> core_first(const InverseSpec& spec, std::int64_t& n_core) {
  std::vector<std::vector<std::int64_t>> rows = expected_rows(spec);
  const auto width = static_cast<std::int64_t>(spec.occurrences.size());
  const auto rest = std::stable_partition(rows.begin(), rows.end(), [&](const auto& row) {
    return std::all_of(row.begin(), row.end(),
                       [&](std::int64_t entry) { return entry / width < spec.elements.n_core(); });
  });
  n_core = rest - rows.begin();
  return rows;
}

TEST(Invert, RowsOfTheCoreComeFirst) {
  const auto map = random_map(300, 2, 200, 0.05, true, 4);
  std::vector<std::int32_t> every_third;
  for (int e = 0; e < 300; e += 3) every_third.push_back(e);
  const TestMap<> subset(every_third, 1, 300);
  for (const bool is_part : {false, true}) {
    for (const auto order : {IncidenceOrder::by_element, IncidenceOrder::by_slot}) {
      for (const bool touched_only : {false, true}) {
        for (const std::int64_t n_boundary : {1, 20, 99, 100}) {
          InverseSpec spec = spec_of(is_part ? 100 : 300, map.table, order);
          if (is_part) spec.elements.subset = subset.table;
          spec.origin = EntryOrigin::position;
          spec.touched_only = touched_only;
          spec.elements.n_boundary = n_boundary;
          const InverseMap inverse = invert(spec, 1);
          std::int64_t n_core = 0;
          EXPECT_EQ(rows_of(inverse), core_first(spec, n_core));
          EXPECT_EQ(rows_of(invert(spec, 3)), rows_of(inverse));
          EXPECT_EQ(inverse.n_core_rows, n_core);
          EXPECT_TRUE(inverse.lists_rows);
          std::set<std::int64_t> targets;
          for (std::int64_t row = 0; row < inverse.n_rows; ++row) {
            const std::int64_t target = testing::entry_of(inverse.rows, row);
            EXPECT_TRUE(targets.insert(target).second);
            if (inverse.offset[static_cast<std::size_t>(row)] ==
                inverse.offset[static_cast<std::size_t>(row) + 1]) {
              continue;
            }
            const std::int64_t entry =
                testing::entry_of(inverse.entries, inverse.offset[static_cast<std::size_t>(row)]);
            const std::int64_t element = is_part ? 3 * (entry / 2) : entry / 2;
            EXPECT_EQ(map.table->at(element, static_cast<int>(entry % 2)), target);
          }
        }
      }
    }
  }
}

TEST(Invert, ABoundaryIsToldByPositions) {
  const auto map = random_map(30, 2, 10, 0.05, false, 4);
  const TestMap<> subset({3, 4, 9}, 1, 30);
  InverseSpec spec = spec_of(3, map.table, IncidenceOrder::by_element);
  spec.elements = {3, subset.table, 1};
  EXPECT_THROW((void)invert(spec, 1), UsageError);
}

TEST(Invert, KeepsBothSlotsOnOneTarget) {
  const TestMap<> map({0, 0}, 2, 1);
  const InverseMap inverse = invert(spec_of(1, map.table, IncidenceOrder::by_element), 1);
  EXPECT_EQ(rows_of(inverse), (std::vector<std::vector<std::int64_t>>{{0, 1}}));
}

TEST(Invert, EmptySets) {
  const TestMap<> map({}, 2, 4);
  for (const auto order : {IncidenceOrder::by_element, IncidenceOrder::by_slot}) {
    const InverseMap inverse = invert(spec_of(0, map.table, order), 2);
    EXPECT_EQ(inverse.offset, std::vector<std::int64_t>(5, 0));
    EXPECT_EQ(pad(inverse, 2).width, 0);
  }
  const TestMap<> nowhere({-1, -1}, 1, 0);
  const InverseMap inverse = invert(spec_of(2, nowhere.table, IncidenceOrder::by_slot), 1);
  EXPECT_EQ(inverse.offset, std::vector<std::int64_t>(1, 0));
  EXPECT_DOUBLE_EQ(inverse.degree_mean(), 0.0);
}

TEST(Invert, UsesWideEntriesWhereNarrowOnesDoNotReach) {
  // A subset of a huge set: few elements, numbers beyond 32 bits. The map's values are only read
  // at the subset's elements, so the table may claim rows that are not there.
  const std::int64_t huge = std::int64_t{3} << 31;
  const TestMap<std::int64_t> subset({0, 1}, 1, huge);
  const std::vector<std::int32_t> values{1, 0};
  const auto map = std::make_shared<mesh::MapTable>(values.data(), 4, huge, 1, 2);
  InverseSpec spec = spec_of(2, map, IncidenceOrder::by_element);
  spec.elements.subset = subset.table;
  const InverseMap inverse = invert(spec, 1);
  EXPECT_TRUE(std::holds_alternative<std::vector<std::int64_t>>(inverse.entries));
  EXPECT_EQ(rows_of(inverse), (std::vector<std::vector<std::int64_t>>{{1}, {0}}));
}

TEST(Invert, RefusesWhatDoesNotFit) {
  const auto map = path_map(3);
  const auto larger = path_map(4);
  InverseSpec spec;
  spec.elements.n = 3;
  EXPECT_THROW((void)invert(spec, 1), UsageError);
  spec.occurrences = {{map.table, 2}};
  EXPECT_THROW((void)invert(spec, 1), UsageError);
  spec.occurrences = {{map.table, 0}, {larger.table, 0}};
  EXPECT_THROW((void)invert(spec, 1), UsageError);
  spec.occurrences = {{nullptr, 0}};
  EXPECT_THROW((void)invert(spec, 1), UsageError);
  spec.occurrences = {{map.table, 0}};
  spec.elements.n = 4;
  EXPECT_THROW((void)invert(spec, 1), UsageError);
}

TEST(Pad, HoldsTheSameRowsWithoutGaps) {
  const auto map = random_map(9000, 3, 5000, 0.05, true, 5);
  const InverseMap inverse = invert(spec_of(9000, map.table, IncidenceOrder::by_element), 2);
  const PaddedInverse padded = pad(inverse, 2);
  EXPECT_EQ(padded.width, inverse.degree_max);
  EXPECT_EQ(rows_of(padded), rows_of(inverse));
  const std::vector<std::int64_t> columns = testing::widen(padded.columns);
  for (std::size_t i = 0; i + 5000 < columns.size(); ++i) {
    if (columns[i] < 0) {
      EXPECT_LT(columns[i + 5000], 0);  // padding only at a row's end
    }
  }
}

TEST(Pad, KeepsTheNamesOfTouchedRows) {
  const TestMap<> map({7, 3, 3, -1}, 1, 10);
  InverseSpec spec = spec_of(4, map.table, IncidenceOrder::by_slot);
  spec.touched_only = true;
  const PaddedInverse padded = pad(invert(spec, 1), 1);
  EXPECT_EQ(testing::widen(padded.rows), (std::vector<std::int64_t>{3, 7}));
  EXPECT_EQ(testing::widen(padded.columns), (std::vector<std::int64_t>{1, 0, 2, -1}));
  EXPECT_EQ(padded.bytes(), 2 * 4 + 4 * 4);
}

TEST(Invert, SaysWhichTargetsHaveIncidences) {
  const TestMap<> map({4, 1, 4, -1}, 1, 6);
  const InverseMap inverse = invert(spec_of(4, map.table, IncidenceOrder::by_element), 1);
  EXPECT_EQ(present(inverse), (std::vector<std::uint8_t>{0, 1, 0, 0, 1, 0}));
}

TEST(Inverse, AllSlotsAreEachSlot) {
  const TestMap<> map = random_map(500, 3, 90, 0.2, true, 11);
  const TestMap<> other = random_map(500, 2, 90, 0.2, true, 12);
  InverseSpec each;
  each.elements.n = 500;
  for (int slot = 0; slot < 3; ++slot) each.occurrences.push_back({map.table, slot});
  each.occurrences.push_back({other.table, 1});
  InverseSpec all = each;
  all.occurrences = {{map.table, all_slots}, {other.table, 1}};
  const InverseMap wanted = invert(each, 1);
  const InverseMap found = invert(all, 3);
  EXPECT_EQ(found.offset, wanted.offset);
  EXPECT_EQ(found.entries, wanted.entries);
  EXPECT_EQ(found.n_occurrences, 4);
  all.order = IncidenceOrder::by_slot;
  EXPECT_THROW((void)invert(all, 1), UsageError);
}

TEST(Inverse, OfARaggedMapCountsSlotsOfTheLongestRow) {
  const RaggedTestMap map({{0, 1}, {}, {1}, {1, 0, 1}}, 2);
  const TestMap<> subset({3, 2}, 1, 4);
  InverseSpec spec;
  spec.elements.n = 4;
  spec.occurrences = {{map.table, all_slots}};
  const InverseMap whole = invert(spec, 2);
  EXPECT_EQ(whole.n_occurrences, 3);
  EXPECT_EQ(whole.offset, (std::vector<std::int64_t>{0, 2, 6}));
  EXPECT_EQ(testing::widen(whole.entries), (std::vector<std::int64_t>{0, 10, 1, 6, 9, 11}));
  spec.elements = {2, subset.table};
  spec.origin = EntryOrigin::position;
  const InverseMap part = invert(spec, 1);
  EXPECT_EQ(testing::widen(part.entries), (std::vector<std::int64_t>{1, 0, 2, 3}));
}

}  // namespace
}  // namespace op2::plan
