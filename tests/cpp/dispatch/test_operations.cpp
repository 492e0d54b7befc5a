// SPDX-License-Identifier: BSD-3-Clause
#include "dispatch/operations.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"

namespace op2::dispatch {
namespace {

constexpr int n_turns = 2 * (Measured::n_trials + 1);
const Operation dot{"dot", "float64", 1000};
const std::vector<Offer> blas{{"blas", "libblas.so", ""}};

/// Calls as their user makes them; returns how often the library was used.
int calls_of(Operations& operations, int n, std::int64_t own, std::int64_t library,
             const Operation& operation = dot) {
  int n_library = 0;
  for (int i = 0; i < n; ++i) {
    const Decision decision = operations.decide(operation, blas);
    n_library += decision.which == 0 ? 1 : 0;
    operations.done(decision, decision.which == 0 ? library : own);
  }
  return n_library;
}

TEST(Operations, TheFasterOneIsTakenOnceBothWereMeasured) {
  for (const bool is_faster : {true, false}) {
    Operations operations;
    EXPECT_EQ(calls_of(operations, n_turns, 50, is_faster ? 40 : 60), n_turns / 2);
    EXPECT_FALSE(operations.decide(dot, blas).is_measured);
    EXPECT_EQ(calls_of(operations, 9, 50, 0), is_faster ? 9 : 0);  // nothing is measured any more
  }
}

TEST(Operations, DevicesHaveCostsOfTheirOwn) {
  Operations operations;
  (void)calls_of(operations, n_turns, 50, 60);
  EXPECT_FALSE(operations.decide(dot, blas).is_measured);
  EXPECT_TRUE(operations.decide({"dot", "float64", 1000, "device 1"}, blas).is_measured);
}

TEST(Operations, WhatIsVetoedIsNotMeasured) {
  Operations operations;
  for (int i = 0; i < 3; ++i) {
    const Decision decision =
        operations.decide({"dot", "int64", 8}, {{"blas", "libblas.so", "dtype: int64"}});
    EXPECT_EQ(decision.which, 1U);
    EXPECT_FALSE(decision.is_measured);
    operations.done(decision, 7);
  }
  Event expected{"dot of int64", "builtin", "", "blas: dtype: int64", 3};
  expected.running = 21;
  EXPECT_EQ(operations.events(), (std::vector<Event>{expected}));
}

TEST(Operations, ReasonsAreCounted) {
  Operations operations;
  (void)calls_of(operations, n_turns + 4, 50, 60);
  std::map<std::string, std::int64_t> own;
  for (const Event& one : operations.events()) {
    if (one.provider == "builtin") own[one.rejected] = one.n_resolved;
    if (one.provider == "library") {
      EXPECT_EQ(one.strategy, "libblas.so");
      EXPECT_EQ(one.running, 60 * n_turns / 2);
    }
  }
  EXPECT_EQ(own, (std::map<std::string, std::int64_t>{{"blas: cost", 4},
                                                      {"blas: measured in turns", n_turns / 2}}));
  operations.clear_events();
  EXPECT_TRUE(operations.events().empty());
}

TEST(Operations, SeveralLibrariesAreAskedInTheirOrder) {
  Operations operations;
  const std::vector<Offer> offers{{"one", "one.so", "stride: 2"}, {"two", "two.so", ""}};
  const Decision first = operations.decide(dot, offers, "");
  EXPECT_EQ(first.which, 1U);
  EXPECT_FALSE(first.is_measured);  // there is no other way
  operations.done(first, 5);
  EXPECT_EQ(operations.events().at(0).rejected, "one: stride: 2");
  const Decision own = operations.decide(dot, {{"one", "one.so", "stride: 2"}}, "loop");
  operations.done(own, 5);
  EXPECT_EQ(operations.events().at(1).provider, "loop");
}

TEST(Operations, SomebodyHasToHaveIt) {
  Operations operations;
  EXPECT_THROW((void)operations.decide(dot, {{"blas", "libblas.so", "length: 0"}}, ""),
               InternalError);
}

TEST(Operations, WhatOnlyTheCoreCanDoIsCountedBesideTheRest) {
  Operations operations;
  const std::shared_ptr<Count> count = operations.counted("zero", "float64");
  EXPECT_TRUE(operations.events().empty());
  count->add(3);
  count->add(4);
  EXPECT_EQ(operations.counted("zero", "float64"), count);
  Event expected{"zero of float64", "builtin", "", "", 2};
  expected.running = 7;
  EXPECT_EQ(operations.events(), (std::vector<Event>{expected}));
  operations.clear_events();
  EXPECT_TRUE(operations.events().empty());
  count->add(1);  // who holds it goes on
  EXPECT_EQ(operations.events().at(0).n_resolved, 1);
}

TEST(Operations, ThreadsMayAskAtTheSameTime) {
  Operations operations;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&operations] { (void)calls_of(operations, 50, 2, 1); });
  }
  for (std::thread& one : threads) one.join();
  std::int64_t n_calls = 0;
  for (const Event& one : operations.events()) n_calls += one.n_resolved;
  EXPECT_EQ(n_calls, 200);
}

}  // namespace
}  // namespace op2::dispatch
