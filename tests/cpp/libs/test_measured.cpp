// SPDX-License-Identifier: BSD-3-Clause
#include "libs/measured.hpp"

#include <gtest/gtest.h>

namespace op2::libs {
namespace {

/// Calls as their user makes them, each way taking so long; returns how often the library was used.
int calls(Measured& measured, int n, std::int64_t size, std::int64_t own, std::int64_t library) {
  int n_library = 0;
  for (int i = 0; i < n; ++i) {
    const bool takes = measured.takes_library("dot", size);
    n_library += takes ? 1 : 0;
    measured.note("dot", size, takes, takes ? library : own);
  }
  return n_library;
}

TEST(Measured, TheFasterWayIsTakenAfterSomeTurns) {
  constexpr int n_turns = 2 * (Measured::n_trials + 1);
  for (const bool is_faster : {true, false}) {
    Measured measured;
    EXPECT_FALSE(measured.is_decided("dot", 1000));
    EXPECT_EQ(calls(measured, n_turns, 1000, 50, is_faster ? 40 : 60), n_turns / 2);
    EXPECT_TRUE(measured.is_decided("dot", 1000));
    EXPECT_EQ(calls(measured, 10, 1000, 50, is_faster ? 40 : 60), is_faster ? 10 : 0);
  }
}

TEST(Measured, TheFirstCallOfEachDoesNotCount) {
  Measured measured;
  measured.note("dot", 8, true, 1);  // it was lucky
  measured.note("dot", 8, false, 1000);
  EXPECT_EQ(calls(measured, 2 * Measured::n_trials, 8, 10, 20), Measured::n_trials);
  EXPECT_FALSE(measured.takes_library("dot", 8));
}

TEST(Measured, SizesAndKindsAreTheirOwn) {
  Measured measured;
  (void)calls(measured, 20, 1000, 10, 20);
  EXPECT_TRUE(measured.is_decided("dot", 600));  // between the same powers of two
  EXPECT_FALSE(measured.is_decided("dot", 2000));
  EXPECT_FALSE(measured.is_decided("axpy", 1000));
  EXPECT_TRUE(measured.takes_library("axpy", 1000));
}

}  // namespace
}  // namespace op2::libs
