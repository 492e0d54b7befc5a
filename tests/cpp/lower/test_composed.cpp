// SPDX-License-Identifier: BSD-3-Clause
#include "lower/composed.hpp"

#include <gtest/gtest.h>

#include <string>

#include "ir/group.hpp"
#include "loops.hpp"

namespace op2::lower {
namespace {

using testing::contains;
using testing::indirect;
using testing::make_loop;

/// Edges with two ends: Map 0 leads to targets, Map 1 to sources.
std::vector<ir::MapRef> ends() {
  std::vector<ir::MapRef> maps = testing::edges_to_nodes();
  maps.front().arity = 1;
  maps.push_back(maps.front());
  return maps;
}

ir::Loop message_loop(testing::NamedArg extra = indirect("p", Access::read, 0)) {
  return make_loop({indirect("x", Access::read, 1, 2), indirect("q", Access::read, 0, 2),
                    indirect("r", Access::inc, 0, 2), std::move(extra)},
                   ends());
}

struct Found {
  kir::PlanSpec plan;
  std::string text;
};

Found by_owner(const ir::Loop& loop, const Options& options = {},
               const Facts& facts = testing::grid) {
  std::vector<MapFacts> maps = testing::no_facts(loop);
  for (MapFacts& map : maps) map.has_negative = false;
  Found found;
  (void)lower({loop, Strategy::owner, facts, maps, options},
              [&found](Stage stage, const kir::Module& module) {
                if (stage <= Stage::layout) found = {module.plan, kir::dump(module)};
              });
  return found;
}

TEST(Composed, RowsStandInTheOrderOfIncidences) {
  const Found found = by_owner(message_loop());
  EXPECT_EQ(found.plan, kir::PlanSpec(abi::InversePlan{{{0}}, {{1}}, false}));
  EXPECT_FALSE(contains(found.text, "incidence[")) << found.text;
  EXPECT_TRUE(contains(found.text, "x[long(x_map_rows[k])]")) << found.text;
}

TEST(Composed, TheTargetsOwnRowsAreReadOnce) {
  const Found found = by_owner(message_loop());
  const std::size_t own = found.text.find("gather q_pack_own = float64 q[target] x2 of 2 from 0");
  const std::size_t loop = found.text.find("for serial k in");
  ASSERT_NE(own, std::string::npos) << found.text;
  EXPECT_LT(own, loop);
  EXPECT_TRUE(contains(found.text, "q_pack[c] = q_pack_own[c]")) << found.text;
}

TEST(Composed, PaddedRowsTellWhereNoIncidenceIs) {
  const Found found = by_owner(message_loop(), {.widths = {.padded = true}});
  EXPECT_EQ(found.plan, kir::PlanSpec(abi::PaddedPlan{{{0}}, {{1}}, false}));
  EXPECT_FALSE(contains(found.text, "incidence[")) << found.text;
  EXPECT_TRUE(contains(found.text, "select((0 < n_columns), x_map_rows[t], -1)")) << found.text;
  EXPECT_TRUE(contains(found.text, "x[entry] x2")) << found.text;
}

TEST(Composed, ElementsAreLookedUpForTheirOwnValues) {
  const Found found = by_owner(message_loop(testing::direct("w", Access::read)));
  EXPECT_EQ(found.plan, kir::PlanSpec(abi::InversePlan{{{0}}, {{1}}, true}));
  EXPECT_TRUE(contains(found.text, "decl const int64 n = incidence[k]")) << found.text;
  EXPECT_TRUE(contains(found.text, "x[long(x_map_rows[k])]")) << found.text;
}

TEST(Composed, OtherLoopsAreLeftAlone) {
  const auto is_composed = [](const Found& found) { return contains(found.text, "_rows"); };
  EXPECT_TRUE(is_composed(by_owner(message_loop())));
  EXPECT_FALSE(is_composed(by_owner(message_loop(), {.tuning = {.composed_targets = 0}})));
  EXPECT_FALSE(is_composed(by_owner(message_loop(), {}, testing::threads))) << "a processor";
  ir::Loop pairs = message_loop();
  pairs.maps[0].arity = 2;
  EXPECT_FALSE(is_composed(by_owner(pairs))) << "two targets";
  ir::Loop part = message_loop();
  part.iteration.subset = true;
  EXPECT_FALSE(is_composed(by_owner(part))) << "a Subset";
  ir::Loop many = message_loop();
  many.maps[1].arity = 5;
  EXPECT_FALSE(is_composed(by_owner(many))) << "five other targets";
}

}  // namespace
}  // namespace op2::lower
