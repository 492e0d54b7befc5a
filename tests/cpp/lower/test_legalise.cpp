// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "loops.hpp"
#include "lower/passes.hpp"

namespace op2::lower {
namespace {

kir::Block team() {
  const kir::Stmt call{kir::Call{"wrap", {}}};
  const kir::Stmt shared{
      kir::For{kir::Axis::thread, "k", kir::name("first"), kir::name("last"), {call}}};
  const kir::Stmt colours{kir::For{kir::Axis::serial,
                                   "colour",
                                   kir::integer(0),
                                   kir::integer(3),
                                   {{kir::Region{{shared}}}, shared}}};
  return {{kir::Region{{colours, call}}}, call};
}

TEST(Legalise, LeavesATeamToBackendsThatHaveOne) {
  EXPECT_EQ(legalise(team(), testing::threads), team());
}

TEST(Legalise, LanesThatTakeTurnsGetConsecutiveItems) {
  const Facts processor =
      Facts{.lanes = Lanes::grid}.on(/*is_processor=*/true, /*has_float64=*/true);
  const kir::Block block{
      {kir::For{kir::Axis::grid, "n", kir::name("begin"), kir::name("end"), {}}}};
  kir::Module module;
  module.launch = legalise(block, processor);
  EXPECT_EQ(kir::dump(module),
            "launch ()\n"
            "  decl const int64 lane_items = ((((end - begin) + @globals) - 1) / "
            "@globals)\n"
            "  decl const int64 lane_first = (begin + (@global * lane_items))\n"
            "  for serial n in [lane_first, min((lane_first + lane_items), end))\n");
  EXPECT_EQ(legalise(block, testing::grid), block);
}

TEST(Legalise, LanesThatTakeTurnsGetWholePassesOfVectors) {
  const Facts processor =
      Facts{.lanes = Lanes::grid}.on(/*is_processor=*/true, /*has_float64=*/true);
  const kir::Block block{
      {kir::For{kir::Axis::grid, "n", kir::name("begin"), kir::name("end"), {}, DType::int64, 8}}};
  kir::Module module;
  module.launch = legalise(block, processor);
  EXPECT_NE(kir::dump(module).find("lane_items = (((((end - begin) + (@globals * 8)) - 1) / "
                                   "(@globals * 8)) * 8)"),
            std::string::npos)
      << kir::dump(module);
}

TEST(Legalise, OneLaneRunsRegionsInPlaceAndSharedLoopsInOrder) {
  const kir::Block block = legalise(team(), testing::one_lane);
  EXPECT_EQ(testing::count<kir::Region>(block), 0);
  testing::for_each_stmt(block, [](const kir::Stmt& stmt) {
    const auto* loop = std::get_if<kir::For>(&stmt.node);
    if (loop != nullptr) {
      EXPECT_EQ(loop->axis, kir::Axis::serial) << loop->index;
    }
  });
  // Nothing but the teams is gone: the region's two statements stand where it stood.
  EXPECT_EQ(block.size(), 3U);
  EXPECT_EQ(testing::count<kir::For>(block), 3);
  EXPECT_EQ(testing::count<kir::Call>(block), 4);
}

TEST(Legalise, LooksIntoBranches) {
  const kir::Block block = legalise({{kir::If{kir::name("x"), team()}}}, testing::one_lane);
  EXPECT_EQ(testing::count<kir::Region>(block), 0);
}

}  // namespace
}  // namespace op2::lower
