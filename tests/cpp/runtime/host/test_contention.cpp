// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/host/contention.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace op2::runtime {
namespace {

constexpr std::int64_t one_ms = 1'000'000;

Usage& usage() {
  static Usage counted;
  return counted;
}

std::optional<std::int64_t>& waited() {
  static std::optional<std::int64_t> counted;
  return counted;
}

/// Time passes, of which one thread may have run a part only, and threads are stopped. How long
/// they waited is not told, where a test says nothing of it.
class ContentionTest : public ::testing::Test {
 protected:
  ContentionTest() {
    usage() = {1000, 5000 * one_ms};
    waited().reset();
  }

  std::int64_t after(std::int64_t n_ms, std::int64_t n_stops, double part = 1) {
    now_ += n_ms * one_ms;
    usage().stops += n_stops;
    usage().nanoseconds += static_cast<std::int64_t>(part * static_cast<double>(n_ms * one_ms));
    return contention_.round(now_);
  }

  std::int64_t after_waiting(std::int64_t n_ms, std::int64_t n_stops, double part_waited) {
    waited() = waited().value_or(123 * one_ms) +
               static_cast<std::int64_t>(part_waited * static_cast<double>(n_ms * one_ms));
    return after(n_ms, n_stops);
  }

  std::int64_t now_ = 77 * one_ms;
  Contention contention_{[] { return usage(); }, [] { return waited(); }};
};

TEST_F(ContentionTest, WhatWasBeforeTheFirstLookDoesNotCount) {
  EXPECT_EQ(after(0, 0), 0);
  EXPECT_EQ(after(51, 0), 0);
}

TEST_F(ContentionTest, AFewStopsAreNone) {
  EXPECT_EQ(after(0, 0), 0);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(after(51, 2), 0);
  EXPECT_EQ(after(1000, 39), 0) << "in a second in which few loops ran";
}

TEST_F(ContentionTest, ManyStopsBeginARound) {
  EXPECT_EQ(after(0, 0), 0);
  EXPECT_EQ(after(20, 20), 0) << "it does not look yet";
  EXPECT_EQ(after(31, 0), 1);
  EXPECT_EQ(after(249, 4), 1);
  EXPECT_EQ(after(2, 0), 0);
}

TEST_F(ContentionTest, ThreadsThatHardlyRunAreStoppedSeldom) {
  EXPECT_EQ(after(0, 0), 0);
  EXPECT_EQ(after(51, 2, 0.15), 0) << "two are not enough";
  EXPECT_EQ(after(51, 2, 0.15), 1) << "40 in a second, but 260 in a second of its own";
  EXPECT_EQ(after(251, 5, 0.15), 2) << "20 in a second";
  EXPECT_EQ(after(501, 1, 0.05), 2) << "it has run too little to tell";
  EXPECT_EQ(after(51, 0, 1), 0);
}

TEST_F(ContentionTest, ThreadsThatRestAreNotStopped) {
  EXPECT_EQ(after(0, 0), 0);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(after(51, i % 50 == 0 ? 1 : 0, 0.01), 0);
}

TEST_F(ContentionTest, RoundsBecomeLongerWhileItGoesOn) {
  EXPECT_EQ(after(0, 0), 0);
  EXPECT_EQ(after(51, 10), 1);
  EXPECT_EQ(after(251, 6), 2) << "one thread is stopped less often";
  EXPECT_EQ(after(499, 100), 2);
  EXPECT_EQ(after(2, 0), 3);
  EXPECT_EQ(after(1001, 1000), 4);
  EXPECT_EQ(after(2001, 1000), 5);
  EXPECT_EQ(after(2001, 1000), 6);
  EXPECT_EQ(after(2001, 0), 0);
}

TEST_F(ContentionTest, APauseBetweenRoundsIsPartOfIt) {
  EXPECT_EQ(after(0, 0), 0);
  EXPECT_EQ(after(51, 10), 1);
  EXPECT_EQ(after(251, 0), 0);  // one thread had a processor for itself
  EXPECT_EQ(after(51, 10), 2);
  EXPECT_EQ(after(499, 0), 2);
  EXPECT_EQ(after(2, 0), 0);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(after(51, 0), 0);
  EXPECT_EQ(after(51, 10), 3);
  EXPECT_EQ(after(251, 0), 0) << "short again after more than a second";
}

TEST_F(ContentionTest, ShortTasksOfTheKernelAreNoContention) {
  EXPECT_EQ(after_waiting(0, 0, 0), 0);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(after_waiting(51, 10, 0.09), 0);
}

TEST_F(ContentionTest, ThreadsThatWaitBeginARoundAtTheSecondLook) {
  EXPECT_EQ(after_waiting(0, 0, 0), 0);
  EXPECT_EQ(after_waiting(51, 10, 0.5), 0) << "they may have waited before";
  EXPECT_EQ(after_waiting(51, 10, 0.11), 1);
  EXPECT_EQ(after_waiting(251, 10, 0.11), 2);
  EXPECT_EQ(after_waiting(501, 20, 0.05), 0) << "one thread found a processor for itself";
  EXPECT_EQ(after_waiting(51, 10, 0.11), 3) << "it was asked at the last look";
  EXPECT_EQ(after_waiting(1001, 0, 0.0), 0);
  EXPECT_EQ(after_waiting(51, 10, 0.5), 0) << "and not at that one";
}

/// Runs until this process has run for @p ms more; returns what it used before.
Usage used_before_running(std::int64_t ms) {
  const Usage before = usage_of_this_process();
  volatile int counted = 0;
  while (usage_of_this_process().nanoseconds < before.nanoseconds + ms * one_ms) {
    counted = counted + 1;
  }
  return before;
}

TEST(Contention, TheKernelTellsHowLongThreadsWaited) {
  used_before_running(5);  // a thread that has just begun may have no times yet
  const std::optional<std::int64_t> before = waits_of_this_process();
  if (!before) GTEST_SKIP() << "/proc/self/task/*/schedstat cannot be read";
  EXPECT_GE(*before, 0);
  EXPECT_GE(waits_of_this_process(), before);
}

TEST(Contention, TheKernelCountsStops) {
  const Usage before = used_before_running(5);
  EXPECT_GE(usage_of_this_process().stops, before.stops);
  EXPECT_GT(before.nanoseconds, 0);
  EXPECT_EQ(&contention(), &contention());
}

}  // namespace
}  // namespace op2::runtime
