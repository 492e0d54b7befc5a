// SPDX-License-Identifier: BSD-3-Clause
#include "api/renumber.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "../base/message_of.hpp"
#include "base/error.hpp"

namespace op2 {
namespace {

using testing::message_of;

/// Four nodes on a line in another order, three edges, and a number on each.
class Renumber : public ::testing::Test {
 protected:
  Set nodes{4, "nodes"};
  Set edges{3, "edges"};
  Set others{2, "others"};
  std::vector<std::int32_t> ends{1, 3, 0, 2, 2, 1};  // 0.3-0.2, 0-0.1, 0.1-0.3
  std::vector<double> at{0.0, 0.3, 0.1, 0.2};
  std::vector<float> lengths{30.0F, 10.0F, 20.0F};
  std::vector<double> untouched{5.0, 6.0};
  Map<2> e2n{edges, nodes, ends, "e2n"};
  Dat<double> x{nodes, at, "x"};
  Dat<float> length{edges, lengths, "length"};
  Dat<double> away{others, untouched, "away"};
};

TEST_F(Renumber, MovesEverythingInPlaceAndBack) {
  const auto old_ends = ends;
  const auto old_at = at;
  const auto old_lengths = lengths;
  Renumbering way = renumber({{e2n, ends}}, {length, away}, x, Curve::morton);
  EXPECT_EQ(at, (std::vector<double>{0.0, 0.1, 0.2, 0.3}));
  EXPECT_EQ(ends, (std::vector<std::int32_t>{0, 1, 1, 3, 3, 2}));
  EXPECT_EQ(lengths, (std::vector<float>{10.0F, 20.0F, 30.0F}));
  EXPECT_EQ(untouched, (std::vector<double>{5.0, 6.0}));
  const auto order = way.order(nodes);
  EXPECT_EQ(std::vector<std::int64_t>(order.begin(), order.end()),
            (std::vector<std::int64_t>{0, 2, 3, 1}));
  EXPECT_EQ(message_of<UsageError>([&] { (void)way.order(others); }),
            "Renumbering: Set 'others' was not renumbered");
  way.undo();
  EXPECT_EQ(at, old_at);
  EXPECT_EQ(ends, old_ends);
  EXPECT_EQ(lengths, old_lengths);
  EXPECT_EQ(message_of<UsageError>([&] { way.undo(); }),
            "Renumbering.undo: nothing to undo; it was undone already");
}

TEST_F(Renumber, SpreadsToSetsThatElementsLeadTo) {
  std::vector<std::int32_t> sides{1, 0, 1};
  Map<1> e2o(edges, others, sides, "e2o");
  const Renumbering way = renumber({{e2n, ends}, {e2o, sides}}, {length, away}, x);
  EXPECT_EQ(untouched, (std::vector<double>{5.0, 6.0}));  // the first edge names the first
  EXPECT_EQ(sides, (std::vector<std::int32_t>{0, 1, 1}));
  EXPECT_EQ(way.order(others).size(), 2U);
}

TEST_F(Renumber, WhatIsWrongMovesNothing) {
  const auto old_ends = ends;
  std::vector<std::int32_t> elsewhere = ends;
  EXPECT_EQ(message_of<UsageError>([&] {
              (void)renumber({{e2n, elsewhere}}, {}, x);
            }),
            "renumber: Map 'e2n' has its values elsewhere; pass the memory that it was made of");
  const Dat<double> same(nodes, at, "same");
  EXPECT_EQ(message_of<UsageError>([&] {
              (void)renumber({{e2n, ends}}, {same}, x);
            }),
            "renumber: Dats 'same' and 'x' share memory; give each its own, or one of them only");
  at[2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)renumber({{e2n, ends}}, {length}, x), UsageError);
  const ExtrudedSet columns(edges, 3);
  Map<2> up(columns, nodes, ends, "up");
  EXPECT_EQ(message_of<UsageError>([&] {
              (void)renumber({{up, ends}}, {}, x);
            }),
            "renumber: Map 'up': Set 'edges_extruded' is extruded, and has the numbers of Set "
            "'edges'; renumber that before it is extruded");
  EXPECT_EQ(ends, old_ends);
}

TEST_F(Renumber, ValuesThatBecameWrongMoveNothing) {
  const auto old_at = at;
  ends[3] = 4;  // of 0 to 3, after the Map was checked
  EXPECT_THROW((void)renumber({{e2n, ends}}, {length}, x), UsageError);
  EXPECT_EQ(at, old_at);
  ends[3] = 2;
  Renumbering way = renumber({{e2n, ends}}, {length}, x);
  const auto new_at = at;
  ends[0] = -1;
  EXPECT_THROW(way.undo(), UsageError);
  EXPECT_EQ(at, new_at);
}

}  // namespace
}  // namespace op2
