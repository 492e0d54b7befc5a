// SPDX-License-Identifier: BSD-3-Clause
#include "plan/composed.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "maps.hpp"

namespace op2::plan {
namespace {

using testing::entry_of;
using testing::path_map;
using testing::random_map;
using testing::TestMap;

InverseSpec by_slot(const TestMap<>& map) {
  InverseSpec spec{{map.table->n_rows(), nullptr}, {}, IncidenceOrder::by_slot};
  for (int slot = 0; slot < map.table->arity(); ++slot)
    spec.occurrences.push_back({map.table, slot});
  return spec;
}

template <class Index>
void expect_rows_of_columns(const TestMap<Index>& map, const SlotColumns& columns,
                            const mesh::MapTable* subset, int index_bytes) {
  const IndexArray found = compose(*map.table, columns, subset, index_bytes, 3);
  EXPECT_EQ(bytes_of(found),
            columns.n_columns() * columns.lanes * map.table->arity() * index_bytes);
  for (std::int64_t i = 0; i < columns.n_columns() * columns.lanes; ++i) {
    const std::int64_t here = entry_of(columns.elements, i);
    const std::int64_t position = here < 0 ? -1 - here : here;
    const std::int64_t element = subset != nullptr ? subset->at(position, 0) : position;
    for (int slot = 0; slot < map.table->arity(); ++slot) {
      EXPECT_EQ(entry_of(found, i * map.table->arity() + slot), map.table->at(element, slot));
    }
  }
}

TEST(Composed, LanesOfColumnsOfOneSlot) {
  const TestMap<> map = random_map(300, 2, 61, 1.0, true, 6);
  const SlotColumns columns = slot_columns(invert(by_slot(map), 1), {8}, 1);
  expect_rows_of_columns(random_map(300, 3, 40, 1.0, false, 7), columns, nullptr, 4);
  expect_rows_of_columns(random_map<std::int64_t>(300, 1, 40, 1.0, true, 8), columns, nullptr, 4);
  expect_rows_of_columns(random_map(300, 2, 40, 1.0, true, 9), columns, nullptr, 8);
}

TEST(Composed, ColumnsMayCountPositionsInASubset) {
  const TestMap<> map = random_map(300, 2, 61, 1.0, true, 10);
  std::vector<std::int32_t> listed;
  for (int e = 1; e < 300; e += 3) listed.push_back(e);
  const TestMap<> subset(listed, 1, 300);
  InverseSpec spec = by_slot(map);
  spec.elements = {subset.table->n_rows(), subset.table};
  spec.origin = EntryOrigin::position;
  const SlotColumns columns = slot_columns(invert(spec, 1), {4}, 1);
  expect_rows_of_columns(map, columns, subset.table.get(), 4);
}

TEST(Composed, RowsInTheOrderOfIncidencesAndOfPaddedColumns) {
  const TestMap<> map = random_map(300, 1, 61, 1.0, true, 11);
  const TestMap<> other = random_map(300, 2, 40, 1.0, false, 12);
  InverseSpec spec{{map.table->n_rows(), nullptr}, {{map.table, 0}}};
  const InverseMap inverse = invert(spec, 1);
  const PaddedInverse padded = pad(inverse, 1);
  EXPECT_LT(entry_of(padded.columns, padded.width * padded.n_rows - 1), 0) << "no hole to test";
  for (const int bytes : {4, 8}) {
    for (const IndexArray* entries : {&inverse.entries, &padded.columns}) {
      const IndexArray found = compose(*other.table, *entries, bytes, 3);
      const std::int64_t n = bytes_of(*entries) / 4;
      ASSERT_EQ(bytes_of(found), n * 2 * bytes);
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t element = entry_of(*entries, i);
        for (int slot = 0; slot < 2; ++slot) {
          EXPECT_EQ(entry_of(found, i * 2 + slot),
                    element < 0 ? -1 : other.table->at(element, slot));
        }
      }
    }
  }
  EXPECT_THROW((void)compose(*path_map(4).table, inverse.entries, 4, 1), UsageError);
}

TEST(Composed, ColumnsNeedRowsForAllElementsAndWidthEnough) {
  const SlotColumns columns = slot_columns(invert(by_slot(path_map(5)), 1), {4}, 1);
  EXPECT_THROW((void)compose(*path_map(4).table, columns, nullptr, 4, 1), UsageError);
  const TestMap<std::int64_t> far(std::vector<std::int64_t>(5, 0), 1, std::int64_t{1} << 32);
  EXPECT_THROW((void)compose(*far.table, columns, nullptr, 4, 1), UsageError);
}

TEST(Composed, NothingComesOfNothing) {
  const TestMap<> none({}, 2, 5);
  const SlotColumns columns = slot_columns(invert(by_slot(none), 1), {4}, 1);
  EXPECT_EQ(bytes_of(compose(*none.table, columns, nullptr, 4, 2)), 0);
}

}  // namespace
}  // namespace op2::plan
