// SPDX-License-Identifier: BSD-3-Clause
#include "base/kept.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace op2 {
namespace {

TEST(Kept, IsFoundOnce) {
  const Kept<int> kept;
  int n = 0;
  const auto find = [&n] { return ++n; };
  EXPECT_EQ(kept.get(find), 1);
  EXPECT_EQ(kept.get(find), 1);
}

TEST(Kept, ACopyHasNothingYet) {
  Kept<int> kept;
  EXPECT_EQ(kept.get([] { return 1; }), 1);
  Kept<int> copy = kept;
  EXPECT_EQ(copy.get([] { return 2; }), 2);
  EXPECT_EQ(kept.get([] { return 3; }), 1);
  copy = kept;
  EXPECT_EQ(copy.get([] { return 4; }), 4);
  const Kept<int>& same = kept;
  kept = same;
  EXPECT_EQ(kept.get([] { return 5; }), 1);
}

TEST(Kept, WhatIsNotFoundIsLookedForAgain) {
  const Kept<int> kept;
  EXPECT_THROW((void)kept.get([]() -> int { throw std::runtime_error("not found"); }),
               std::runtime_error);
  EXPECT_EQ(kept.get([] { return 2; }), 2);
}

TEST(Kept, ThreadsFindOneTogether) {
  const Kept<int> kept;
  std::atomic<int> n = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(kept.get([&n] { return ++n; }), 1); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(n, 1);
}

}  // namespace
}  // namespace op2
