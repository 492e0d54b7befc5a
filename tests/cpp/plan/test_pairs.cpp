// SPDX-License-Identifier: BSD-3-Clause
#include "plan/pairs.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.hpp"
#include "maps.hpp"

namespace op2::plan {
namespace {

using testing::entry_of;
using testing::random_map;
using testing::TestMap;

InverseMap inverse_of_all(const TestMap<>& map, bool touched_only = false) {
  InverseSpec spec{{map.table->n_rows(), nullptr}, {}};
  spec.touched_only = touched_only;
  for (int slot = 0; slot < map.table->arity(); ++slot)
    spec.occurrences.push_back({map.table, slot});
  return invert(spec, 1);
}

TEST(PairColumns, NameTheOtherTargetAndTheOwnSlot) {
  const TestMap<> edges({0, 1, 2, 1, 1, 3}, 2, 5);  // target 4 has none
  const PairColumns pairs = pair_columns(inverse_of_all(edges), *edges.table, 0, 2);
  EXPECT_EQ(pairs.n_rows, 5);
  EXPECT_EQ(pairs.width, 3);
  const std::vector<std::int64_t> wanted{4, 2,  4, 6, 5,  // other * 4 + slot * 2, or that + 1
                                         5, 10, 5, 7, 5,  //
                                         5, 12, 5, 7, 5};
  EXPECT_EQ(testing::widen(pairs.neighbours), wanted);
  EXPECT_EQ(pairs.bytes(), 15 * 4);
}

TEST(PairColumns, AreAsWideAsTold) {
  const TestMap<> edges({0, 1, 1, 2}, 2, 3);
  const InverseMap inverse = inverse_of_all(edges);
  const PairColumns pairs = pair_columns(inverse, *edges.table, 3, 1);
  EXPECT_EQ(pairs.width, 3);
  EXPECT_EQ(testing::widen(pairs.neighbours),
            (std::vector<std::int64_t>{4, 2, 6, 5, 8, 7, 5, 3, 7}));
  EXPECT_EQ(bytes_of(compose(*edges.table, inverse, 3, 4, 1)), 3 * 3 * 2 * 4);
  EXPECT_THROW((void)pair_columns(inverse, *edges.table, 1, 1), InternalError);
}

TEST(PairColumns, MayHaveRowsForTouchedTargetsAlone) {
  const TestMap<> edges({7, 2}, 2, 9);
  const PairColumns pairs = pair_columns(inverse_of_all(edges, true), *edges.table, 0, 1);
  EXPECT_TRUE(pairs.touched_only);
  EXPECT_EQ(testing::widen(pairs.rows), (std::vector<std::int64_t>{2, 7}));
  EXPECT_EQ(testing::widen(pairs.neighbours), (std::vector<std::int64_t>{7 * 4 + 2, 2 * 4}));
}

TEST(PairColumns, OfNoElementsAreNone) {
  const TestMap<> edges(std::vector<std::int32_t>{}, 2, 3);
  const PairColumns pairs = pair_columns(inverse_of_all(edges), *edges.table, 0, 1);
  EXPECT_EQ(pairs.width, 0);
  EXPECT_EQ(pairs.bytes(), 0);
}

TEST(PairColumns, HoldEachIncidenceOnce) {
  const TestMap<> edges = random_map(5000, 2, 1700, 1.0, false, 3);
  const InverseMap inverse = inverse_of_all(edges);
  const PairColumns pairs = pair_columns(inverse, *edges.table, 0, 3);
  for (std::int64_t row = 0; row < pairs.n_rows; ++row) {
    const std::int64_t first = inverse.offset[static_cast<std::size_t>(row)];
    const std::int64_t n = inverse.offset[static_cast<std::size_t>(row + 1)] - first;
    for (std::int64_t column = 0; column < pairs.width; ++column) {
      const std::int64_t found = entry_of(pairs.neighbours, column * pairs.n_rows + row);
      EXPECT_EQ(found % 2 == 0, column < n);
      const std::int64_t entry =
          n == 0 ? 0 : entry_of(inverse.entries, first + (column < n ? column : 0));
      const auto slot = static_cast<int>(entry % 2);
      EXPECT_EQ(found / 2, edges.table->at(entry / 2, 1 - slot) * 2 + slot);
    }
  }
}

TEST(PairColumns, AreNotOfOtherMaps) {
  const TestMap<> triangles({0, 1, 2}, 3, 3);
  EXPECT_THROW((void)pair_columns(inverse_of_all(triangles), *triangles.table, 0, 1),
               InternalError);
}

TEST(ComposedPairs, LeadWhereTheElementsDo) {
  const TestMap<> edges = random_map(4000, 2, 1700, 1.0, false, 4);
  const TestMap<> nodes = random_map(4000, 3, 900, 1.0, true, 5);
  const InverseMap inverse = inverse_of_all(edges);
  for (const int index_bytes : {4, 8}) {
    const IndexArray found = compose(*nodes.table, inverse, 0, index_bytes, 3);
    EXPECT_EQ(bytes_of(found), inverse.degree_max * inverse.n_rows * 3 * index_bytes);
    for (std::int64_t row = 0; row < inverse.n_rows; ++row) {
      const std::int64_t first = inverse.offset[static_cast<std::size_t>(row)];
      const std::int64_t n = inverse.offset[static_cast<std::size_t>(row + 1)] - first;
      for (std::int64_t column = 0; column < n; ++column) {
        for (int slot = 0; slot < 3; ++slot) {
          EXPECT_EQ(entry_of(found, (column * inverse.n_rows + row) * 3 + slot),
                    nodes.table->at(entry_of(inverse.entries, first + column) / 2, slot));
        }
      }
    }
  }
}

TEST(ComposedPairs, NeedRowsForAllElements) {
  const TestMap<> edges({0, 1, 2, 1}, 2, 3);
  const TestMap<> shorter({0}, 1, 3);
  EXPECT_THROW((void)compose(*shorter.table, inverse_of_all(edges), 0, 4, 1), UsageError);
}

}  // namespace
}  // namespace op2::plan
