// SPDX-License-Identifier: BSD-3-Clause
#include "plan/footprint.hpp"

#include <gtest/gtest.h>

#include "maps.hpp"

namespace op2::plan {
namespace {

using testing::path_map;
using testing::TestMap;

std::vector<std::int64_t> targets(const Footprint& footprint, std::int64_t begin,
                                  std::int64_t end) {
  std::vector<std::int64_t> found;
  footprint.visit(begin, end, [&found](std::int64_t target) { found.push_back(target); });
  return found;
}

TEST(Footprint, LaysSpacesEndToEnd) {
  const auto path = path_map(3);
  const TestMap<std::int64_t> other({1, 0, 1}, 1, 2);
  const Footprint footprint({3, nullptr}, {{path.table, all_slots, 0}, {other.table, 0, 1}});
  EXPECT_EQ(footprint.n_targets(), 6);
  EXPECT_EQ(targets(footprint, 0, 2), (std::vector<std::int64_t>{0, 1, 1, 2, 5, 4}));
}

TEST(Footprint, MapsOfOneSpaceShareIt) {
  const auto path = path_map(3);
  const TestMap<> other({3, 2, 1}, 1, 4);
  const Footprint footprint({3, nullptr}, {{path.table, 1, 0}, {other.table, all_slots, 0}});
  EXPECT_EQ(footprint.n_targets(), 4);
  EXPECT_EQ(targets(footprint, 1, 2), (std::vector<std::int64_t>{2, 2}));
}

TEST(Footprint, FollowsTheSubsetAndSkipsWhatIsNoTarget) {
  const TestMap<> map({0, -1, 1, 9, 2, 0}, 2, 3);
  const TestMap<> subset({2, 0, 1}, 1, 3);
  const Footprint footprint({3, subset.table}, {{map.table, all_slots, 0}});
  EXPECT_EQ(targets(footprint, 0, 3), (std::vector<std::int64_t>{2, 0, 0, 1}));
}

TEST(Footprint, VisitsRaggedRows) {
  const std::vector<std::int32_t> values{4, 6, 6, 7, 5, 0, 3};  // {5, 0}, {}, {3}
  const auto map = std::make_shared<mesh::MapTable>(values.data(), 4, 3, mesh::ragged, 6);
  const Footprint whole({3, nullptr}, {{map, all_slots, 0}});
  EXPECT_EQ(targets(whole, 0, 3), (std::vector<std::int64_t>{5, 0, 3}));
  EXPECT_EQ(targets(whole, 1, 2), std::vector<std::int64_t>{});
  const TestMap<> subset({2, 0}, 1, 3);
  const Footprint part({2, subset.table}, {{map, all_slots, 0}});
  EXPECT_EQ(targets(part, 0, 2), (std::vector<std::int64_t>{3, 5, 0}));
}

}  // namespace
}  // namespace op2::plan
