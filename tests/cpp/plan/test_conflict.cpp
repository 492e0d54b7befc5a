// SPDX-License-Identifier: BSD-3-Clause
#include "plan/conflict.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "maps.hpp"

namespace op2::plan {
namespace {

using testing::path_map;
using testing::TestMap;

TEST(Canonical, DatsOverOneMapAreOneSpace) {
  const auto map = path_map(3);
  const auto kept = canonical({{map.table, all_slots, 7}, {map.table, all_slots, 4}});
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].space, 0);
  EXPECT_EQ(kept[0].slot, all_slots);
}

TEST(Canonical, ASlotIsCoveredByAllSlotsWhicheverComesFirst) {
  const auto map = path_map(3);
  for (const auto& conflicts :
       {std::vector<Conflict>{{map.table, 1, 0}, {map.table, all_slots, 0}},
        std::vector<Conflict>{{map.table, all_slots, 0}, {map.table, 1, 0}}}) {
    const auto kept = canonical(conflicts);
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept[0].slot, all_slots);
  }
}

TEST(Canonical, KeepsSpacesThatDiffer) {
  const auto map = path_map(3);
  const auto kept = canonical({{map.table, 0, 0}, {map.table, 1, 1}});
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[1].space, 1);
}

TEST(Canonical, DropsASpaceInsideAnother) {
  const auto map = path_map(3);
  const auto other = path_map(3);
  const auto kept = canonical({{map.table, 0, 0}, {map.table, all_slots, 1}, {other.table, 0, 1}});
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].space, kept[1].space);
}

TEST(Canonical, RefusesWhatCannotBe) {
  const auto map = path_map(3);
  const auto larger = path_map(4);
  EXPECT_THROW((void)canonical({{map.table, 2, 0}}), UsageError);
  EXPECT_THROW((void)canonical({{map.table, -2, 0}}), UsageError);
  EXPECT_THROW((void)canonical({{nullptr, 0, 0}}), UsageError);
  EXPECT_THROW((void)canonical({{map.table, 0, 0}, {larger.table, 0, 0}}), UsageError);
}

TEST(CheckElements, RefusesWhatDoesNotFitTheMaps) {
  const auto map = path_map(3);
  EXPECT_NO_THROW(check_elements({3, nullptr}, {map.table}, 1));
  EXPECT_NO_THROW(check_elements({2, nullptr}, {map.table}, 1));
  EXPECT_THROW(check_elements({4, nullptr}, {map.table}, 1), UsageError);
  EXPECT_THROW(check_elements({-1, nullptr}, {map.table}, 1), UsageError);
}

TEST(CheckElements, ChecksTheSubset) {
  const auto map = path_map(3);
  const TestMap<> good({2, 0}, 1, 3);
  const TestMap<> outside({2, 3}, 1, 3);
  const TestMap<> pairs({2, 0}, 2, 3);
  const TestMap<> of_more({2, 0}, 1, 9);
  EXPECT_NO_THROW(check_elements({2, good.table}, {map.table}, 1));
  EXPECT_THROW(check_elements({3, good.table}, {map.table}, 1), UsageError);
  EXPECT_THROW(check_elements({2, outside.table}, {map.table}, 1), UsageError);
  EXPECT_THROW(check_elements({1, pairs.table}, {map.table}, 1), UsageError);
  EXPECT_THROW(check_elements({2, of_more.table}, {map.table}, 1), UsageError);
}

}  // namespace
}  // namespace op2::plan
