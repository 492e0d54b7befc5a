// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/map_facts.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace op2::mesh {
namespace {

template <class Index>
MapTable table(const std::vector<Index>& values, int arity, std::int64_t n_targets) {
  return {values.data(), static_cast<int>(sizeof(Index)),
          static_cast<std::int64_t>(values.size()) / arity, arity, n_targets};
}

std::string message_of_check(const MapTable& map, bool negative_allowed) {
  try {
    check_range(map, "Map 'e2n'", negative_allowed, 2);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(MapFacts, OfEdgesAlongAPath) {
  const std::vector<std::int32_t> values{0, 1, 1, 2, 2, 3};
  const MapTable map = table(values, 2, 4);
  EXPECT_EQ(map_facts(map, 3, 1), (MapFacts{4, false, false}));
  EXPECT_EQ(largest_degree(map, 3, {}, 1), 2);
  EXPECT_EQ(map_facts(map, 1, 1), (MapFacts{4, true, false}));
  EXPECT_EQ(largest_degree(map, 1, {}, 1), 1);
}

TEST(MapFacts, OnlyTheGivenSlotsCount) {
  const std::vector<std::int32_t> values{0, 1, 0, 2, 0, 2, 0, 3};
  const MapTable map = table(values, 2, 4);
  EXPECT_EQ(largest_degree(map, 4, {}, 1), 4);
  EXPECT_EQ(largest_degree(map, 4, {0}, 1), 4);
  EXPECT_EQ(largest_degree(map, 4, {1}, 1), 2);
  EXPECT_EQ(largest_degree(map, 2, {1}, 1), 1);
  EXPECT_EQ(largest_degree(map, 4, {1, 0}, 1), 4);
}

TEST(MapFacts, NegativeEntriesHaveNoDegree) {
  const std::vector<std::int64_t> values{-1, 0, -1, -1};
  EXPECT_EQ(map_facts(table(values, 2, 1), 2, 1), (MapFacts{8, true, true}));
  EXPECT_EQ(largest_degree(table(values, 2, 1), 2, {}, 1), 1);
}

TEST(MapFacts, ATargetNamedTwiceByOneElementIsNotInjective) {
  const std::vector<std::int32_t> values{0, 0};
  EXPECT_EQ(map_facts(table(values, 2, 1), 1, 1), (MapFacts{4, false, false}));
  const std::vector<std::int32_t> fewer{3, -1, 3, -1};
  EXPECT_EQ(map_facts(table(fewer, 2, 9), 2, 1), (MapFacts{4, false, true}));
}

TEST(MapFacts, OfRaggedRows) {
  const std::vector<std::int32_t> values{4, 6, 6, 7, 5, 0, 5};  // {5, 0}, {}, {5}
  const MapTable map(values.data(), 4, 3, ragged, 6);
  EXPECT_EQ(map_facts(map, 2, 1), (MapFacts{4, true, false}));
  EXPECT_EQ(map_facts(map, 3, 2), (MapFacts{4, false, false}));
  EXPECT_EQ(largest_degree(map, 3, {}, 1), 2);
  EXPECT_EQ(message_of_check(map, false), "");
  const MapTable narrow(values.data(), 4, 3, ragged, 5);
  EXPECT_NE(message_of_check(narrow, true).find("row 0, slot 0: value 5"), std::string::npos);
}

TEST(MapFacts, OfEmptySets) {
  const std::vector<std::int32_t> values;
  EXPECT_EQ(map_facts(table(values, 2, 0), 0, 2), (MapFacts{4, true, false}));
  EXPECT_EQ(map_facts(table(values, 2, 5), 0, 2), (MapFacts{4, true, false}));
}

TEST(MapFacts, DoNotDependOnThreads) {
  std::vector<std::int32_t> values;
  for (std::int32_t i = 0; i < 60000; ++i) values.push_back((i * 7919) % 20000 - 1);
  const MapTable map = table(values, 3, 20000);
  const MapFacts one = map_facts(map, 20000, 1);
  EXPECT_EQ(one, (MapFacts{4, false, true}));
  for (const int n_threads : {1, 2, 3, 8}) {
    EXPECT_EQ(map_facts(map, 20000, n_threads), one);
    EXPECT_EQ(largest_degree(map, 20000, {}, n_threads), 3);
  }
}

TEST(MapFacts, RefusesMoreRowsThanThereAre) {
  const std::vector<std::int32_t> values{0};
  EXPECT_THROW((void)map_facts(table(values, 1, 1), 2, 1), UsageError);
  EXPECT_THROW((void)map_facts(table(values, 1, 1), -1, 1), UsageError);
}

TEST(MapFacts, RefusesEntriesBeyondTheTargets) {
  const std::vector<std::int32_t> values{0, 1};
  EXPECT_THROW((void)map_facts(table(values, 1, 1), 2, 1), UsageError);
  EXPECT_THROW((void)largest_degree(table(values, 1, 1), 2, {}, 1), UsageError);
}

TEST(CheckRange, NamesTheFirstBadEntry) {
  const std::vector<std::int32_t> values{0, 1, 2, 9, 9, 0};
  const std::string message = message_of_check(table(values, 2, 3), false);
  EXPECT_NE(message.find("Map 'e2n': row 1, slot 1: value 9"), std::string::npos) << message;
  EXPECT_NE(message.find("0 <= value < 3"), std::string::npos) << message;
}

TEST(CheckRange, NegativeEntriesOnlyWhereAllowed) {
  const std::vector<std::int64_t> values{0, -1};
  EXPECT_NE(message_of_check(table(values, 1, 1), false).find("row 1, slot 0: value -1"),
            std::string::npos);
  EXPECT_EQ(message_of_check(table(values, 1, 1), true), "");
}

TEST(CheckRange, AcceptsGoodAndEmptyMaps) {
  const std::vector<std::int32_t> values{0, 2, 1};
  EXPECT_EQ(message_of_check(table(values, 1, 3), false), "");
  EXPECT_EQ(message_of_check(table(std::vector<std::int32_t>{}, 1, 0), false), "");
}

TEST(CheckRange, FindsABadEntryInAnyThreadsPart) {
  for (const std::size_t bad : {std::size_t{0}, std::size_t{25000}, std::size_t{49999}}) {
    std::vector<std::int32_t> values(50000, 0);
    values[bad] = 1;
    EXPECT_NE(message_of_check(table(values, 1, 1), false).find("row " + std::to_string(bad) + ","),
              std::string::npos);
  }
}

}  // namespace
}  // namespace op2::mesh
