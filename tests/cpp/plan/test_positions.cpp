// SPDX-License-Identifier: BSD-3-Clause
#include "plan/positions.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/error.hpp"
#include "plan/plan_cache.hpp"
#include "position_specs.hpp"

namespace op2::plan {
namespace {

using testing::path_map;
using testing::positions_of;
using testing::RaggedTestMap;
using testing::random_map;
using testing::TestMap;

TEST(Positions, AreNarrowWhereRowsAreShort) {
  EXPECT_EQ(position_bytes(0), 1);
  EXPECT_EQ(position_bytes(255), 1);  // positions 0 to 254, and 255 for "none"
  EXPECT_EQ(position_bytes(256), 2);
  EXPECT_EQ(position_bytes(65535), 2);
  EXPECT_EQ(position_bytes(65536), 4);
}

TEST(Positions, OfAPath) {
  const TestMap<> path = path_map(3);
  const Positions found = find_positions(positions_of(path, path, 3, 1), 1);
  EXPECT_EQ(std::get<std::vector<std::uint8_t>>(found.values),
            (std::vector<std::uint8_t>{0, 1, 0, 1, 1, 2, 0, 1, 1, 2, 0, 1}));
  EXPECT_EQ(found.bytes(), 12);
  EXPECT_TRUE(found.begins.empty());
}

TEST(Positions, LeadToTheColumnTheyWereAskedFor) {
  const TestMap<> rows = random_map(3000, 3, 800, 0.1, true, 5);
  const TestMap<> columns = random_map(3000, 2, 500, 0.1, true, 6);
  const PositionSpec spec = positions_of(rows, columns, 3000, 2);
  for (const int n_threads : {1, 3}) {
    const Positions found = find_positions(spec, n_threads);
    const auto& values = std::get<std::vector<std::uint16_t>>(found.values);
    const auto& there = std::get<std::vector<std::int32_t>>(spec.sparsity->columns);
    for (std::int64_t e = 0; e < 3000; ++e) {
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 2; ++j) {
          const std::uint16_t position = values[static_cast<std::size_t>((e * 3 + i) * 2 + j)];
          const std::int64_t row = rows.table->at(e, i);
          const std::int64_t column = columns.table->at(e, j);
          if (row < 0 || column < 0) {
            EXPECT_EQ(position, dropped<std::uint16_t>);
          } else {
            const std::int64_t place =
                spec.sparsity->row_offset[static_cast<std::size_t>(row)] + position;
            EXPECT_EQ(there[static_cast<std::size_t>(place)], column);
          }
        }
      }
    }
  }
}

TEST(Positions, OfRaggedMapsBeginWhereTheElementsDo) {
  const RaggedTestMap rows({{0, 2}, {}, {1}, {2, 0, 1}}, 3);
  const TestMap<> columns({0, 1, 1, 2, 0, 0, 2, 1}, 2, 3);
  const std::vector<MapPointer> pairs[] = {
      {rows.table, columns.table}, {columns.table, rows.table}, {rows.table, rows.table}};
  const std::vector<std::int64_t> begins[] = {{0, 4, 4, 6, 12}, {0, 4, 4, 6, 12}, {0, 4, 4, 5, 14}};
  for (std::size_t i = 0; i < 3; ++i) {
    const PositionSpec spec = positions_of(pairs[i][0], pairs[i][1], 4, 1);
    const Positions found = find_positions(spec, 2);
    EXPECT_EQ(found.begins, begins[i]);
    EXPECT_EQ(found.bytes(), begins[i].back() + 5 * 8);
    const auto& values = std::get<std::vector<std::uint8_t>>(found.values);
    const auto& there = std::get<std::vector<std::int32_t>>(spec.sparsity->columns);
    auto position = values.begin();
    for (std::int64_t e = 0; e < 4; ++e) {
      EXPECT_EQ(position - values.begin(), begins[i][static_cast<std::size_t>(e)]);
      pairs[i][0]->visit(e, [&](int, std::int64_t row) {
        pairs[i][1]->visit(e, [&](int, std::int64_t column) {
          const std::int64_t first = spec.sparsity->row_offset[static_cast<std::size_t>(row)];
          EXPECT_EQ(there[static_cast<std::size_t>(first + *position++)], column);
        });
      });
    }
  }
}

TEST(Positions, OfRaggedMapsOverASubsetWithMasksOfScalars) {
  const RaggedTestMap map({{0, 1}, {}, {1}}, 2);
  const TestMap<> subset({2, 0}, 1, 3);
  const TestMap<std::int64_t> rows({0, -1, 2, 3}, 1, 4);
  PositionSpec spec = positions_of(map.table, map.table, 3, 1);
  spec.elements = {2, subset.table};
  spec.row_mask = rows.table;
  spec.row_dim = 2;
  const Positions found = find_positions(spec, 1);
  constexpr std::uint8_t none = dropped<std::uint8_t>;
  EXPECT_EQ(found.begins, (std::vector<std::int64_t>{0, 2, 10}));
  EXPECT_EQ(std::get<std::vector<std::uint8_t>>(found.values),
            (std::vector<std::uint8_t>{1, 1, 0, 1, none, none, 0, 1, 0, 1}));
}

TEST(Positions, MasksDropRowsAndColumns) {
  const TestMap<> path = path_map(2);
  const TestMap<std::int64_t> rows({0, -1, 2}, 1, 3);
  const TestMap<std::int64_t> columns({-1, 1, 2}, 1, 3);
  PositionSpec spec = positions_of(path, path, 2, 1);
  spec.row_mask = rows.table;
  spec.column_mask = columns.table;
  constexpr std::uint8_t none = dropped<std::uint8_t>;
  EXPECT_EQ(std::get<std::vector<std::uint8_t>>(find_positions(spec, 1).values),
            (std::vector<std::uint8_t>{none, 1, none, none, none, none, 0, 1}));
}

TEST(Positions, MasksOfScalars) {
  const TestMap<> map({0, 1}, 2, 2);
  const TestMap<std::int64_t> rows({0, -1, 2, 3}, 1, 4);
  PositionSpec spec = positions_of(map, map, 1, 1);
  spec.row_mask = rows.table;
  spec.row_dim = 2;
  spec.column_dim = 1;
  constexpr std::uint8_t none = dropped<std::uint8_t>;
  EXPECT_EQ(std::get<std::vector<std::uint8_t>>(find_positions(spec, 1).values),
            (std::vector<std::uint8_t>{0, 1, none, none, 0, 1, 0, 1}));
}

TEST(Positions, RefuseWhatHasNoPlace) {
  TestMap<> path = path_map(3);
  PositionSpec spec = positions_of(path, path, 3, 1);
  const TestMap<std::int64_t> short_mask({0, 1}, 1, 4);
  PositionSpec masked = spec;
  masked.row_mask = short_mask.table;
  EXPECT_THROW((void)find_positions(masked, 1), UsageError);
  path.values[1] = 3;  // as if the Map's values were changed after the sparsity was built
  EXPECT_THROW((void)find_positions(spec, 1), UsageError);
  const TestMap<> wide = random_map(2000, 1, 1000, 1.0, false, 7);
  const TestMap<> one(std::vector<std::int32_t>(2000, 0), 1, 1);
  EXPECT_THROW((void)find_positions(positions_of(one, wide, 2000, 1), 1), UsageError);
  EXPECT_NO_THROW((void)find_positions(positions_of(one, wide, 2000, 2), 1));
}

TEST(Positions, AreFoundOnceWhileTheMatrixLives) {
  const TestMap<> path = path_map(3);
  PlanCache cache;
  PositionSpec spec = positions_of(path, path, 3, 1);
  const auto first = cache.positions(spec, 1);
  EXPECT_EQ(cache.positions(spec, 1), first);
  spec.bytes = 2;
  EXPECT_NE(cache.positions(spec, 1), first);
  EXPECT_EQ(cache.statistics().n_plans, 2);
  spec = positions_of(path, path, 3, 1);
  EXPECT_EQ(cache.statistics().n_plans, 0);  // the old sparsity is gone
  EXPECT_NE(cache.positions(spec, 1), first);
  path.table->increment_version();
  EXPECT_EQ(cache.statistics().n_plans, 0);
}

}  // namespace
}  // namespace op2::plan
