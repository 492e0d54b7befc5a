// SPDX-License-Identifier: BSD-3-Clause
#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace op2 {
namespace {

TEST(ParallelFor, VisitsEveryIndexOnce) {
  for (const std::int64_t n : {0, 1, 4095, 4096, 4097, 100000}) {
    std::vector<int> visits(static_cast<std::size_t>(n), 0);
    parallel_for(3, n, [&visits](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
    });
    EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), n);
  }
}

TEST(ParallelFor, RethrowsAChunksException) {
  const auto body = [](std::int64_t begin, std::int64_t, int) {
    if (begin > 0) throw std::runtime_error("chunk failed");
  };
  EXPECT_THROW(parallel_for(2, 100000, body), std::runtime_error);
}

}  // namespace
}  // namespace op2
