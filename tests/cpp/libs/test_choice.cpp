// SPDX-License-Identifier: BSD-3-Clause
#include "libs/choice.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace op2::libs {
namespace {

constexpr int n_turns = 2 * (Measured::n_trials + 1);

/// Calls as their user makes them; returns how often the library was used.
int calls_of(Choice& choice, int n, std::int64_t own, std::int64_t library) {
  int n_library = 0;
  for (int i = 0; i < n; ++i) {
    const auto [by_library, is_measured] = choice.decide("dot", "float64", 1000, "");
    n_library += by_library ? 1 : 0;
    if (is_measured) choice.note("dot", "float64", 1000, by_library, by_library ? library : own);
  }
  return n_library;
}

TEST(Choice, TheFasterOneIsTakenOnceBothWereMeasured) {
  for (const bool is_faster : {true, false}) {
    Choice choice("blas");
    EXPECT_EQ(calls_of(choice, n_turns, 50, is_faster ? 40 : 60), n_turns / 2);
    EXPECT_FALSE(choice.decide("dot", "float64", 1000, "").is_measured);
    EXPECT_EQ(calls_of(choice, 9, 50, 0), is_faster ? 9 : 0);  // nothing is measured any more
  }
}

TEST(Choice, WhatIsVetoedIsNotMeasured) {
  Choice choice("blas");
  for (int i = 0; i < 3; ++i) {
    const auto [by_library, is_measured] = choice.decide("dot", "int64", 8, "dtype: int64");
    EXPECT_FALSE(by_library);
    EXPECT_FALSE(is_measured);
  }
  const std::vector<ChoiceEvent> events = choice.events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].operation, "dot");
  EXPECT_EQ(events[0].dtype, "int64");
  EXPECT_EQ(events[0].rejected, "blas: dtype: int64");
  EXPECT_EQ(events[0].n_calls, 3);
}

TEST(Choice, ReasonsAreCounted) {
  Choice choice("blas");
  (void)calls_of(choice, n_turns + 4, 50, 60);
  std::map<std::string, std::int64_t> own;
  for (const ChoiceEvent& one : choice.events()) {
    if (!one.by_library) own[one.rejected] = one.n_calls;
  }
  EXPECT_EQ(own, (std::map<std::string, std::int64_t>{{"blas: cost", 4},
                                                      {"blas: measured in turns", n_turns / 2}}));
  choice.clear_events();
  EXPECT_TRUE(choice.events().empty());
}

TEST(Choice, ThreadsMayAskAtTheSameTime) {
  Choice choice("blas");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back([&choice] { (void)calls_of(choice, 50, 2, 1); });
  for (std::thread& one : threads) one.join();
  std::int64_t n_calls = 0;
  for (const ChoiceEvent& one : choice.events()) n_calls += one.n_calls;
  EXPECT_EQ(n_calls, 200);
}

}  // namespace
}  // namespace op2::libs
