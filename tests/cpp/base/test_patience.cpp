// SPDX-License-Identifier: BSD-3-Clause
#include "base/patience.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>

namespace op2 {
namespace {

/// Without a pause: a busy machine may take any time for one.
std::int64_t rounds_of(Wait& wait) {
  std::int64_t n_rounds = 0;
  while (wait.goes_on()) ++n_rounds;
  return n_rounds;
}

TEST(Wait, EndsWithItsTime) {
  const Patience patience{0.1, {}};
  const auto start = std::chrono::steady_clock::now();
  Wait wait(patience);
  EXPECT_GT(rounds_of(wait), 1);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(100));
}

TEST(Wait, WithoutPatienceTriesOnce) {
  const Patience patience{};
  Wait wait(patience);
  EXPECT_EQ(rounds_of(wait), 0);
}

TEST(Wait, AsksNowAndThenNotAlways) {
  int n_asked = 0;
  const Patience patience{0.2, [&n_asked] { ++n_asked; }};
  Wait wait(patience);
  EXPECT_GT(rounds_of(wait), n_asked);
  EXPECT_GE(n_asked, 1);
  EXPECT_LE(n_asked, 4);
}

TEST(Wait, LetsAnInterruptThrough) {
  const Patience patience{10.0, [] { throw std::runtime_error("interrupted"); }};
  Wait wait(patience);
  EXPECT_THROW(rounds_of(wait), std::runtime_error);
}

}  // namespace
}  // namespace op2
