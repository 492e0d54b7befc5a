// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/map_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace op2::mesh {
namespace {

template <class Index>
void expect_rows_of() {
  std::vector<Index> values{5, 0, 3, -1, 2, 4};
  const MapTable map(values.data(), static_cast<int>(sizeof(Index)), 2, 3, 6);
  EXPECT_EQ(map.at(0, 0), 5);
  EXPECT_EQ(map.at(0, 2), 3);
  EXPECT_EQ(map.at(1, 0), -1);
  EXPECT_EQ(map.at(1, 2), 4);
  values[5] = 1;  // not a copy
  EXPECT_EQ(map.at(1, 2), 1);
}

TEST(MapTable, ReadsBothWidths) {
  expect_rows_of<std::int32_t>();
  expect_rows_of<std::int64_t>();
}

TEST(MapTable, ReadsTargetsBeyondTheReachOf32Bits) {
  const std::vector<std::int64_t> values{std::int64_t{1} << 40};
  const MapTable map(values.data(), 8, 1, 1, (std::int64_t{1} << 40) + 1);
  EXPECT_EQ(map.at(0, 0), std::int64_t{1} << 40);
}

TEST(MapTable, HasRowsOfTheirOwnLength) {
  const std::vector<std::int32_t> values{4, 6, 6, 7, 5, 0, 3};  // {5, 0}, {}, {3}
  const MapTable map(values.data(), 4, 3, ragged, 6);
  EXPECT_TRUE(map.is_ragged());
  EXPECT_EQ(map.n_entries(0), 2);
  EXPECT_EQ(map.n_entries(1), 0);
  EXPECT_EQ(map.n_entries(2), 1);
  EXPECT_THROW((void)map.arity(), UnsupportedError);
  EXPECT_EQ(map.at(2, 0), 3);
  EXPECT_EQ(map.n_bytes(), 28);
  std::vector<std::int64_t> found;
  for (std::int64_t row = 0; row < 3; ++row) {
    map.visit(row, [&found](int slot, std::int64_t target) {
      found.insert(found.end(), {slot, target});
    });
  }
  EXPECT_EQ(found, (std::vector<std::int64_t>{0, 5, 1, 0, 0, 3}));
}

TEST(MapTable, TellsItsShapeAndVersion) {
  const std::vector<std::int32_t> values(6);
  MapTable map(values.data(), 4, 3, 2, 9);
  EXPECT_EQ(map.values(), values.data());
  EXPECT_EQ(map.index_bytes(), 4);
  EXPECT_EQ(map.n_rows(), 3);
  EXPECT_EQ(map.arity(), 2);
  EXPECT_EQ(map.n_targets(), 9);
  EXPECT_EQ(map.version(), 0);
  map.increment_version();
  EXPECT_EQ(map.version(), 1);
}

}  // namespace
}  // namespace op2::mesh
