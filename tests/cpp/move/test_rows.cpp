// SPDX-License-Identifier: BSD-3-Clause
#include "move/rows.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace op2::move {
namespace {

TEST(Rows, AreCopiedAsTheyAre) {
  std::vector<std::int32_t> from(6);
  std::iota(from.begin(), from.end(), 1);
  std::vector<std::int32_t> to(6);
  copy_items(dense_rows(to.data(), from.data(), 2, 3, 4, 4), 4, 1);
  EXPECT_EQ(to, from);
}

TEST(Rows, GoFromOneLayoutToAnother) {
  const std::vector<double> from{1, 2, 3, 4, 5, 6};
  std::vector<double> to(6);
  auto rows = dense_rows(to.data(), from.data(), 3, 2, 8, 8);
  rows.to_row = 8;
  rows.to_item = 24;
  copy_items(rows, 8, 2);
  EXPECT_EQ(to, (std::vector<double>{1, 3, 5, 2, 4, 6}));
}

TEST(Rows, MayHaveLists) {
  const std::vector<float> from{1, 2, 3};
  const std::vector<std::int64_t> list{2, 0};
  std::vector<float> to(2);
  auto rows = dense_rows(to.data(), from.data(), 2, 1, 4, 4);
  rows.lists.from = list.data();
  copy_items(rows, 4, 1);
  EXPECT_EQ(to, (std::vector<float>{3, 1}));
}

TEST(Rows, ManyAreCopiedByManyThreads) {
  const std::int64_t n = 300'000;
  std::vector<std::int64_t> from(static_cast<std::size_t>(n));
  std::iota(from.begin(), from.end(), 0);
  std::vector<std::int64_t> to(from.size());
  copy_items(dense_rows(to.data(), from.data(), n, 1, 8, 8), 8, 4);
  EXPECT_EQ(to, from);
}

}  // namespace
}  // namespace op2::move
