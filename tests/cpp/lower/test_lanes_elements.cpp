// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_elements.hpp"

#include <gtest/gtest.h>

#include "kir/dump.hpp"

namespace op2::lower {
namespace {

kir::Parameter map_named(const std::string& name) {
  kir::Parameter parameter{};
  parameter.role = kir::Role::map;
  parameter.index = 0;
  parameter.name = name;
  return parameter;
}

/// Two names of one Map, an index `n` and a pack.
LaneElements elements() {
  kir::Function function;
  function.parameters = {map_named("x_map"), map_named("y_map")};
  LaneElements made(function, {"n", "taken"}, 2);
  made.add_variable("n", {kir::name("n"), kir::name("lane1")}, kir::name("n_lane"));
  made.add_pack("pack", DType::float64);
  return made;
}

std::string text(const kir::Expr& expr) {
  return kir::dump(expr);
}

TEST(LanesElements, NamesStandForWhatTheyAreOnEachLane) {
  const kir::Expr at = kir::name("n") * kir::integer(3);
  EXPECT_EQ(text(elements().on_lane(at, 1)), text(kir::name("lane1") * kir::integer(3)));
  EXPECT_EQ(elements().on_lanes(at).size(), 2U);
  EXPECT_EQ(text(elements().in_lane(at)), text(kir::name("n_lane") * kir::integer(3)));
}

TEST(LanesElements, PacksAreReadByLane) {
  const kir::Expr value = kir::element("pack", kir::integer(1));
  EXPECT_EQ(text(elements().in_lane(value)),
            text(kir::lane_of("pack", kir::integer(1), LaneElements::lane())));
  EXPECT_EQ(text(elements().on_lane(value, 1)), text(value));
}

TEST(LanesElements, MapsHaveOneName) {
  const kir::Expr entry = kir::element("y_map", kir::name("n"));
  EXPECT_EQ(text(elements().on_lane(entry, 1)), "x_map[lane1]");
  EXPECT_EQ(text(elements().in_lane(entry)), "x_map[n_lane]");
}

TEST(LanesElements, NewNamesAreFree) {
  LaneElements made = elements();
  EXPECT_EQ(made.fresh("taken"), "taken_");
  EXPECT_EQ(made.fresh("taken"), "taken__");
  kir::Block block;
  EXPECT_EQ(text(made.declare(block, "live", kir::integer(2))), "live");
  EXPECT_EQ(block.size(), 1U);
}

}  // namespace
}  // namespace op2::lower
