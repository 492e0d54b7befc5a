// SPDX-License-Identifier: BSD-3-Clause
#include "plan/bucket_sort.hpp"

#include <gtest/gtest.h>

namespace op2::plan {
namespace {

std::vector<std::int64_t> sort_by_remainder(int n_threads, std::int64_t n, std::int64_t divisor,
                                            std::vector<std::int64_t>& offset) {
  std::vector<std::int64_t> sorted(static_cast<std::size_t>(n), -1);
  offset = bucket_sort(
      n_threads, n, divisor,
      [divisor](std::int64_t begin, std::int64_t end, const auto& f) {
        for (std::int64_t i = begin; i < end; ++i) f(i % divisor, i);
      },
      [&sorted](std::int64_t position, std::int64_t value) {
        sorted[static_cast<std::size_t>(position)] = value;
      });
  return sorted;
}

TEST(BucketSort, IsStableForAnyNumberOfThreads) {
  const std::int64_t n = 100001;
  for (const int n_threads : {1, 2, 3, 7}) {
    std::vector<std::int64_t> offset;
    const auto sorted = sort_by_remainder(n_threads, n, 10, offset);
    ASSERT_EQ(offset.size(), 11U);
    EXPECT_EQ(offset.back(), n);
    for (std::int64_t bucket = 0; bucket < 10; ++bucket) {
      std::int64_t expected = bucket;
      for (std::int64_t i = offset[static_cast<std::size_t>(bucket)];
           i < offset[static_cast<std::size_t>(bucket) + 1]; ++i, expected += 10) {
        ASSERT_EQ(sorted[static_cast<std::size_t>(i)], expected);
      }
    }
  }
}

TEST(BucketSort, OfNothing) {
  std::vector<std::int64_t> offset;
  EXPECT_TRUE(sort_by_remainder(2, 0, 3, offset).empty());
  EXPECT_EQ(offset, std::vector<std::int64_t>(4, 0));
}

}  // namespace
}  // namespace op2::plan
