// SPDX-License-Identifier: BSD-3-Clause
#include "base/trial.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace op2 {
namespace {

/// Measure until it is decided; in which order the arms came.
std::vector<std::size_t> order_of(Trial& trial, const std::vector<double>& times) {
  std::vector<std::size_t> order;
  while (!trial.is_decided()) {
    order.push_back(trial.next());
    trial.note(order.back(), times[order.back()]);
  }
  return order;
}

TEST(Trial, ArmsTakeTurnsAndTheFastestIsKept) {
  Trial trial(3, {.n_each = 2});
  EXPECT_EQ(trial.n_left(), 6);
  EXPECT_EQ(order_of(trial, {3, 1, 2}), (std::vector<std::size_t>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(trial.next(), 1U);
  EXPECT_EQ(trial.arm(2).shortest, 2.0);
}

TEST(Trial, TheShortestTimeCounts) {
  Trial trial(2, {.n_each = 2});
  for (const double took : {9.0, 1.0}) trial.note(0, took);
  for (const double took : {2.0, 2.0}) trial.note(1, took);
  EXPECT_EQ(trial.best(), 0U);
}

TEST(Trial, TheFirstMeasurementsOfEachDoNotCount) {
  Trial trial(2, {.n_each = 1, .n_warm = 1});
  trial.note(0, 1.0);
  trial.note(1, 8.0);
  EXPECT_FALSE(trial.arm(0).shortest);
  EXPECT_EQ(order_of(trial, {4, 2}), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(trial.best(), 1U);
}

TEST(Trial, OneThatWasMeasuredOftenEnoughIsNotMeasuredOn) {
  Trial trial(2, {.n_each = 1});
  trial.note(0, 5.0);
  trial.note(0, 1.0);
  EXPECT_EQ(trial.arm(0).n, 1);
  trial.note(1, 4.0);
  EXPECT_EQ(trial.best(), 1U);
}

TEST(Trial, OfEqualsThePreferredIsKept) {
  for (const std::size_t preferred : {0U, 1U}) {
    Trial trial(2, {.n_each = 1, .preferred = preferred});
    (void)order_of(trial, {2, 2});
    EXPECT_EQ(trial.best(), preferred);
  }
}

TEST(Trial, OthersHaveToBeFasterByTheGain) {
  for (const double took : {96.0, 98.0}) {
    Trial trial(3, {.n_each = 1, .preferred = 1, .gain = 0.97});
    (void)order_of(trial, {took, 100, 200});
    EXPECT_EQ(trial.best(), took < 97 ? 0U : 1U);
  }
  Trial trial(3, {.n_each = 1, .preferred = 2, .gain = 0.5});
  (void)order_of(trial, {30, 20, 100});
  EXPECT_EQ(trial.best(), 1U);
}

TEST(Trial, WhatIsNotPossibleTakesNoTurn) {
  Trial trial(2, {.n_each = 1});
  trial.note(0, 8.0);
  trial.note(1, 1.0);
  trial.allow(1, false);
  EXPECT_TRUE(trial.is_decided());
  EXPECT_EQ(trial.best(), 0U);
  trial.allow(1, true);
  EXPECT_EQ(trial.best(), 1U);
}

TEST(Trial, WithoutAnythingToMeasureThePreferredGoesOn) {
  Trial trial(2, {.n_each = 1});
  trial.note(0, std::nullopt);
  EXPECT_EQ(trial.next(), 1U);
  trial.note(1, 3.0);
  EXPECT_TRUE(trial.is_decided());
  EXPECT_EQ(trial.best(), 0U);
}

}  // namespace
}  // namespace op2
