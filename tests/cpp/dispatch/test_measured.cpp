// SPDX-License-Identifier: BSD-3-Clause
#include "dispatch/measured.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace op2::dispatch {
namespace {

const std::vector<std::string_view> two{"library", "own"};

/// Calls as their user makes them, each way taking so long; returns how often each was taken.
std::vector<int> calls(Measured& measured, int n, std::int64_t size,
                       const std::vector<std::string_view>& ways,
                       const std::vector<std::int64_t>& spent) {
  std::vector<int> n_taken(ways.size());
  for (int i = 0; i < n; ++i) {
    const std::size_t which = measured.next("dot", size, ways).which;
    ++n_taken[which];
    measured.note("dot", size, ways[which], spent[which]);
  }
  return n_taken;
}

TEST(Measured, TheFasterWayIsTakenAfterSomeTurns) {
  constexpr int n_turns = Measured::n_trials + 1;
  for (const bool is_faster : {true, false}) {
    Measured measured;
    const std::vector<std::int64_t> spent{is_faster ? 40 : 60, 50};
    EXPECT_FALSE(measured.next("dot", 1000, two).is_decided);
    EXPECT_EQ(calls(measured, 2 * n_turns, 1000, two, spent), (std::vector{n_turns, n_turns}));
    EXPECT_TRUE(measured.next("dot", 1000, two).is_decided);
    EXPECT_EQ(calls(measured, 10, 1000, two, spent)[0], is_faster ? 10 : 0);
  }
}

TEST(Measured, AnyNumberOfWaysTakesTurns) {
  constexpr int n_turns = Measured::n_trials + 1;
  const std::vector<std::string_view> ways{"a", "b", "own"};
  Measured measured;
  EXPECT_EQ(calls(measured, 3 * n_turns, 8, ways, {30, 20, 25}),
            (std::vector{n_turns, n_turns, n_turns}));
  EXPECT_EQ(calls(measured, 7, 8, ways, {30, 20, 25}), (std::vector{0, 7, 0}));
  EXPECT_EQ(calls(measured, 7, 8, {"a", "own"}, {30, 25}), (std::vector{0, 7}));  // b cannot do it
}

TEST(Measured, TheLastOfEquallyFastOnesIsTaken) {
  Measured measured;
  (void)calls(measured, 2 * (Measured::n_trials + 1), 8, two, {10, 10});
  EXPECT_EQ(measured.next("dot", 8, two).which, 1U);
}

TEST(Measured, TheFirstCallOfEachDoesNotCount) {
  Measured measured;
  measured.note("dot", 8, "library", 1);  // it was lucky
  measured.note("dot", 8, "own", 1000);
  EXPECT_EQ(calls(measured, 2 * Measured::n_trials, 8, two, {20, 10})[0], Measured::n_trials);
  EXPECT_EQ(measured.next("dot", 8, two).which, 1U);
}

TEST(Measured, SizesAndKindsAreTheirOwn) {
  Measured measured;
  (void)calls(measured, 20, 1000, two, {20, 10});
  EXPECT_TRUE(measured.next("dot", 600, two).is_decided);  // between the same powers of two
  EXPECT_FALSE(measured.next("dot", 2000, two).is_decided);
  EXPECT_FALSE(measured.next("axpy", 1000, two).is_decided);
  EXPECT_EQ(measured.next("axpy", 1000, two).which, 0U);
}

TEST(Measured, WhatAnotherProcessFoundIsNotMeasuredAgain) {
  Measured first;
  (void)calls(first, 20, 1000, two, {20, 10});
  (void)calls(first, 2, 8, two, {20, 10});  // too few
  const std::vector<Measured::Decided> found = first.decided();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].size, 10);
  Measured second;
  for (const auto& [way, nanoseconds] : found[0].nanoseconds) {
    second.learn(found[0].kind, found[0].size, way, nanoseconds);
  }
  EXPECT_EQ(calls(second, 3, 600, two, {20, 10}), (std::vector{0, 3}));
  EXPECT_FALSE(second.next("dot", 8, two).is_decided);
}

}  // namespace
}  // namespace op2::dispatch
