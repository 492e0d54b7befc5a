// SPDX-License-Identifier: BSD-3-Clause
#include "plan/entries.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "plan/at.hpp"
#include "plan/plan_cache.hpp"
#include "plan/raw_vector.hpp"
#include "position_specs.hpp"

namespace op2::plan {
namespace {

using testing::path_map;
using testing::positions_of;
using testing::random_map;
using testing::TestMap;

std::int64_t place_of(const EntryBlocks& blocks, std::int64_t entry) {
  return std::visit([entry](const auto& places) { return std::int64_t{places[at(entry)]}; },
                    blocks.places);
}

/// What is added to each scalar of the matrix if scalar s of element e is 1 + e * size + s.
std::vector<double> by_blocks(const EntryBlocks& blocks, const EntryLayout& layout,
                              std::int64_t size, std::int64_t n_values) {
  std::vector<double> sums(at(n_values), 0.0);
  const auto n_blocks = static_cast<std::int64_t>(blocks.first_entry.size()) - 1;
  for (std::int64_t b = 0; b < n_blocks; ++b) {
    for (std::int64_t j = blocks.first_entry[at(b)]; j < blocks.first_entry[at(b + 1)]; ++j) {
      for (int k = blocks.first_summand[at(j + b)]; k < blocks.first_summand[at(j + b + 1)]; ++k) {
        const int slot = blocks.summands[at(b * layout.block_size * size + k)];
        const std::int64_t e = b * layout.block_size + slot % layout.block_size;
        const std::int64_t scalar = slot / layout.block_size;
        sums[at(place_of(blocks, j))] += static_cast<double>(1 + e * size + scalar);
      }
    }
  }
  return sums;
}

std::vector<double> one_by_one(const PositionSpec& spec, const Positions& positions,
                               const EntryLayout& layout) {
  const int dim = layout.row_dim * layout.col_dim;
  std::vector<double> sums(at(spec.sparsity->row_offset.back() * dim), 0.0);
  const auto& found = std::get<std::vector<std::int32_t>>(positions.values);
  const int rows = spec.rows->arity();
  const int columns = spec.columns->arity();
  const std::int64_t size = std::int64_t{rows} * columns * dim;
  for (std::int64_t e = 0; e < layout.n_elements; ++e) {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        const std::int32_t position = found[at((e * rows + i) * columns + j)];
        if (position == dropped<std::int32_t>) continue;
        const std::int64_t block = spec.sparsity->row_offset[at(spec.rows->at(e, i))] + position;
        for (int r = 0; r < layout.row_dim; ++r) {
          for (int c = 0; c < layout.col_dim; ++c) {
            const std::int64_t scalar =
                (std::int64_t{i} * layout.row_dim + r) * columns * layout.col_dim +
                std::int64_t{j} * layout.col_dim + c;
            sums[at(block * dim + std::int64_t{r} * layout.col_dim + c)] +=
                static_cast<double>(1 + e * size + scalar);
          }
        }
      }
    }
  }
  return sums;
}

TEST(EntryBlocks, OfAPath) {
  const TestMap<> path = path_map(3);
  const PositionSpec spec = positions_of(path, path, 3);
  const EntryBlocks found =
      list_entries(spec, find_positions(spec, 1), {.n_elements = 3, .block_size = 2}, 1);
  EXPECT_EQ(found.first_entry, (std::vector<std::int64_t>{0, 7, 11}));
  // node 1 is in both elements of the first block, so its entry, the fourth, has two summands
  EXPECT_EQ(std::get<0>(found.places), (RawVector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 6, 7, 8, 9}));
  EXPECT_EQ(found.first_summand, (RawVector<std::uint16_t>{0, 1, 2, 3, 5, 6, 7, 8, 0, 1, 2, 3, 4}));
  EXPECT_EQ(found.summands, (RawVector<std::uint16_t>{0, 2, 4, 6, 1, 3, 5, 7, 0, 2, 4, 6}));
  EXPECT_EQ(found.bytes(), 3 * 8 + 11 * 4 + 13 * 2 + 12 * 2);
}

/// One row with a place for each of so many columns.
TEST(EntryBlocks, OfRowsMuchLongerThanABlockNeeds) {
  std::vector<std::int32_t> columns(600);
  std::iota(columns.begin(), columns.end(), 0);
  const TestMap<> row(std::vector<std::int32_t>(300, 0), 1, 1);
  const TestMap<> pairs(columns, 2, 600);
  const PositionSpec spec = positions_of(row, pairs, 300);
  const EntryLayout layout{.n_elements = 300, .block_size = 16};
  const Positions positions = find_positions(spec, 1);
  const EntryBlocks found = list_entries(spec, positions, layout, 2);
  EXPECT_EQ(std::get<0>(found.places), RawVector<std::int32_t>(columns.begin(), columns.end()));
  const std::vector<double> wanted = one_by_one(spec, positions, layout);
  EXPECT_EQ(by_blocks(found, layout, 2, 600), wanted);
}

TEST(TargetBlocks, OfAPath) {
  const TestMap<> path = path_map(3);
  const EntryBlocks found = list_targets(*path.table, {.n_elements = 3, .block_size = 2}, 1);
  EXPECT_EQ(found.first_entry, (std::vector<std::int64_t>{0, 3, 5}));
  EXPECT_EQ(std::get<0>(found.places), (RawVector<std::int32_t>{0, 1, 2, 2, 3}));
  EXPECT_EQ(found.first_summand, (RawVector<std::uint16_t>{0, 1, 3, 4, 0, 1, 2}));
  // node 1 is the second of the first element and the first of the second one
  EXPECT_EQ(found.summands, (RawVector<std::uint16_t>{0, 2, 1, 3, 0, 2}));
}

TEST(TargetBlocks, SumWhatElementsAddOneByOne) {
  const std::int64_t n = 1000;
  const TestMap<> map = random_map(n, 3, 300, 0.1, true, 5);
  for (const TargetLayout& layout : {TargetLayout{n, 64, 4}, TargetLayout{n, 16, 8},
                                     TargetLayout{n, 2048, 4}, TargetLayout{999, 1, 4}}) {
    std::vector<double> wanted(300, 0.0);
    for (std::int64_t e = 0; e < layout.n_elements; ++e) {
      for (int slot = 0; slot < 3; ++slot) {
        if (const std::int64_t target = map.table->at(e, slot); target >= 0) {
          wanted[at(target)] += static_cast<double>(1 + 3 * e + slot);
        }
      }
    }
    for (const int n_threads : {1, 3}) {
      const EntryBlocks found = list_targets(*map.table, layout, n_threads);
      EXPECT_EQ(found.places.index(), layout.place_bytes == 4 ? 0 : 1);
      EXPECT_EQ(by_blocks(found, {layout.n_elements, layout.block_size}, 3, 300), wanted);
    }
  }
}

TEST(TargetBlocks, WhatDoesNotFitIsRefused) {
  const TestMap<> path = path_map(3);
  EXPECT_THROW((void)list_targets(*path.table, {.n_elements = 4, .block_size = 2}, 1), UsageError);
  EXPECT_THROW((void)list_targets(*path.table, {.n_elements = 3, .block_size = 0}, 1), UsageError);
  EXPECT_THROW((void)list_targets(*path.table, {.n_elements = 3, .block_size = 40000}, 1),
               UsageError);
  const TestMap<> large({0, 1}, 2, std::int64_t{1} << 32);
  EXPECT_THROW((void)list_targets(*large.table, {.n_elements = 1, .block_size = 1}, 1), UsageError);
  EXPECT_EQ(list_targets(*path.table, {.n_elements = 0, .block_size = 4}, 1).first_entry,
            std::vector<std::int64_t>{0});
}

TEST(DistinctTargets, AreFewWhereNeighboursShareThem) {
  const TestMap<> path = path_map(6400);
  EXPECT_NEAR(distinct_targets(*path.table, 6400, 64), 65.0 / 128.0, 1e-12);
  EXPECT_EQ(distinct_targets(*path.table, 6400, 1), 1.0);
  EXPECT_EQ(distinct_targets(*path.table, 0, 64), 0.0);
  const TestMap<> same(std::vector<std::int32_t>(200, 3), 2, 9);
  EXPECT_EQ(distinct_targets(*same.table, 100, 50), 1.0 / 100.0);
  const TestMap<> none(std::vector<std::int32_t>(200, -1), 2, 9);
  EXPECT_EQ(distinct_targets(*none.table, 100, 50), 0.0);
  const TestMap<> long_rows(std::vector<std::int32_t>(140000, 3), 70000, 9);
  EXPECT_EQ(distinct_targets(*long_rows.table, 2, 1), 1.0 / 70000.0);  // more than a list can have
  EXPECT_THROW((void)distinct_targets(*path.table, 6401, 64), UsageError);
}

TEST(EntryBlocks, PlacesThatDoNotFitAreRefused) {
  const TestMap<> path = path_map(3);
  PositionSpec spec = positions_of(path, path, 3);
  const Positions positions = find_positions(spec, 1);
  Sparsity large = *spec.sparsity;
  large.row_offset.back() = std::int64_t{1} << 31;
  spec.sparsity = std::make_shared<const Sparsity>(large);
  EXPECT_THROW((void)list_entries(spec, positions, {.n_elements = 3, .block_size = 2}, 1),
               UsageError);
}

TEST(EntryBlocks, SumWhatElementsAddOneByOne) {
  const TestMap<> rows = random_map(1000, 3, 300, 0.1, true, 5);
  const TestMap<> columns = random_map(1000, 2, 200, 0.1, true, 6);
  const PositionSpec spec = positions_of(rows, columns, 1000);
  const Positions positions = find_positions(spec, 1);
  for (const EntryLayout& layout : {EntryLayout{1000, 64, 1, 1, 4}, EntryLayout{1000, 16, 2, 3, 8},
                                    EntryLayout{1000, 2048, 1, 1, 4}}) {
    const std::vector<double> wanted = one_by_one(spec, positions, layout);
    const std::int64_t size = std::int64_t{6} * layout.row_dim * layout.col_dim;
    for (const int n_threads : {1, 3}) {
      const EntryBlocks found = list_entries(spec, positions, layout, n_threads);
      EXPECT_EQ(found.places.index(), layout.place_bytes == 4 ? 0 : 1);
      EXPECT_EQ(by_blocks(found, layout, size, static_cast<std::int64_t>(wanted.size())), wanted);
    }
  }
}

TEST(EntryBlocks, LeaveOutScalarsThatAreMaskedOneByOne) {
  const TestMap<> path = path_map(3);
  PositionSpec spec = positions_of(path, path, 3);
  const TestMap<> mask({0, -1, 2, 3, 4, 5, 6, 7}, 1, 8);  // the second scalar of the first node
  spec.row_mask = mask.table;
  spec.row_dim = spec.column_dim = 2;
  const EntryBlocks found = list_entries(
      spec, find_positions(spec, 1),
      {.n_elements = 3, .block_size = 4, .row_dim = 2, .col_dim = 2, .place_bytes = 4}, 1);
  // 10 blocks of four scalars, without the second scalars' row in two of them
  EXPECT_EQ(found.first_entry, (std::vector<std::int64_t>{0, 36}));
  for (const std::int32_t place : std::get<RawVector<std::int32_t>>(found.places)) {
    EXPECT_FALSE(place < 8 && place % 4 >= 2) << place;
  }
}

TEST(EntryBlocks, TooManyScalarsForABlockAreRefused) {
  const TestMap<> path = path_map(3);
  const PositionSpec spec = positions_of(path, path, 3);
  const Positions positions = find_positions(spec, 1);
  EXPECT_THROW((void)list_entries(spec, positions, {.n_elements = 3, .block_size = 16384}, 1),
               UsageError);
}

TEST(EntryBlocks, AreCachedWithTheirLayout) {
  const TestMap<> path = path_map(3);
  const PositionSpec spec = positions_of(path, path, 3);
  PlanCache plans;
  const auto first = plans.entries(spec, {.n_elements = 3, .block_size = 2}, 1);
  EXPECT_EQ(plans.entries(spec, {.n_elements = 3, .block_size = 2}, 2), first);
  EXPECT_NE(plans.entries(spec, {.n_elements = 3, .block_size = 3}, 1), first);
}

}  // namespace
}  // namespace op2::plan
