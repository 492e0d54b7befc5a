// SPDX-License-Identifier: BSD-3-Clause
#include "plan/sparsity.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "maps.hpp"

namespace op2::plan {
namespace {

using testing::path_map;
using testing::RaggedTestMap;
using testing::random_map;
using testing::TestMap;

std::vector<std::int64_t> columns_of(const Sparsity& sparsity) {
  return std::visit(
      [](const auto& found) { return std::vector<std::int64_t>(found.begin(), found.end()); },
      sparsity.columns);
}

/// What the definition says, by brute force: the places in order.
std::vector<std::set<std::int64_t>> places(const SparsitySpec& spec) {
  std::vector<std::set<std::int64_t>> rows(static_cast<std::size_t>(spec.n_rows));
  for (const MapPair& pair : spec.pairs) {
    for (std::int64_t e = 0; e < pair.n_elements; ++e) {
      pair.rows->visit(e, [&](int, std::int64_t row) {
        pair.columns->visit(e, [&](int, std::int64_t column) {
          if (row >= 0 && column >= 0) rows[static_cast<std::size_t>(row)].insert(column);
        });
      });
    }
  }
  for (std::int64_t i = 0; spec.diagonal && i < std::min(spec.n_rows, spec.n_columns); ++i) {
    rows[static_cast<std::size_t>(i)].insert(i);
  }
  return rows;
}

void expect_places(const SparsitySpec& spec, int n_threads) {
  const Sparsity sparsity = build_sparsity(spec, n_threads);
  const std::vector<std::int64_t> columns = columns_of(sparsity);
  const auto wanted = places(spec);
  ASSERT_EQ(sparsity.row_offset.size(), wanted.size() + 1);
  std::int64_t longest = 0;
  for (std::size_t row = 0; row < wanted.size(); ++row) {
    const std::vector<std::int64_t> found(columns.begin() + sparsity.row_offset[row],
                                          columns.begin() + sparsity.row_offset[row + 1]);
    EXPECT_EQ(found, std::vector<std::int64_t>(wanted[row].begin(), wanted[row].end())) << row;
    longest = std::max(longest, static_cast<std::int64_t>(wanted[row].size()));
  }
  EXPECT_EQ(sparsity.longest_row, longest);
  EXPECT_EQ(sparsity.n_entries(), static_cast<std::int64_t>(columns.size()));
}

TEST(BuildSparsity, CouplesNeighboursOnAPath) {
  const TestMap<> path = path_map(3);
  const Sparsity sparsity = build_sparsity({4, 4, {{path.table, path.table, 3}}, true}, 1);
  EXPECT_EQ(sparsity.row_offset, (std::vector<std::int64_t>{0, 2, 5, 8, 10}));
  EXPECT_EQ(columns_of(sparsity), (std::vector<std::int64_t>{0, 1, 0, 1, 2, 1, 2, 3, 2, 3}));
  EXPECT_TRUE(std::holds_alternative<std::vector<std::int32_t>>(sparsity.columns));
  EXPECT_EQ(sparsity.bytes(), 5 * 8 + 10 * 4);
}

TEST(BuildSparsity, IsWhatTheDefinitionSays) {
  const TestMap<> rows = random_map(5000, 3, 2000, 0.02, true, 1);
  const TestMap<std::int64_t> columns = random_map<std::int64_t>(5000, 4, 900, 1.0, true, 2);
  const TestMap<> more = random_map(700, 2, 2000, 1.0, false, 3);
  const TestMap<> others = random_map(700, 1, 900, 1.0, false, 4);
  for (const int n_threads : {1, 3}) {
    expect_places({2000, 900, {{rows.table, columns.table, 5000}}, false}, n_threads);
    expect_places(
        {2000, 900, {{rows.table, columns.table, 4000}, {more.table, others.table, 700}}, true},
        n_threads);
  }
}

TEST(BuildSparsity, HasADiagonalWhereNoElementGoes) {
  const TestMap<> map({0, 0}, 2, 3);
  const Sparsity sparsity = build_sparsity({3, 3, {{map.table, map.table, 1}}, true}, 1);
  EXPECT_EQ(columns_of(sparsity), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(build_sparsity({3, 3, {}, true}, 1).n_entries(), 3);
  EXPECT_EQ(build_sparsity({3, 3, {}, false}, 1).n_entries(), 0);
  EXPECT_EQ(build_sparsity({0, 0, {}, true}, 2).row_offset, (std::vector<std::int64_t>{0}));
}

TEST(BuildSparsity, RefusesWhatDoesNotFit) {
  const TestMap<> path = path_map(3);
  const TestMap<> wild({0, 7}, 2, 4);
  EXPECT_THROW((void)build_sparsity({4, 4, {{path.table, path.table, 4}}, true}, 1), UsageError);
  EXPECT_THROW((void)build_sparsity({5, 4, {{path.table, path.table, 3}}, true}, 1), UsageError);
  EXPECT_THROW((void)build_sparsity({4, 5, {{path.table, path.table, 3}}, true}, 1), UsageError);
  EXPECT_THROW((void)build_sparsity({4, 4, {{wild.table, wild.table, 1}}, true}, 1), UsageError);
  EXPECT_THROW((void)build_sparsity({-1, 4, {}, true}, 1), UsageError);
}

TEST(Sparsity, OfRaggedMaps) {
  const RaggedTestMap rows({{0, 2, 2}, {}, {1}, {2, 0, 1, 3}}, 5);
  const TestMap<> columns({0, 1, -1, 2, 0, 0, 2, 1}, 2, 3);
  for (const int n_threads : {1, 3}) {
    expect_places({5, 3, {{rows.table, columns.table, 4}}, false}, n_threads);
    expect_places({3, 5, {{columns.table, rows.table, 4}}, false}, n_threads);
    expect_places({5, 5, {{rows.table, rows.table, 3}}, true}, n_threads);
  }
}

}  // namespace
}  // namespace op2::plan
