// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/launch_list.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>

#include "base/error.hpp"
#include "exec/build.hpp"

namespace op2::runtime {
namespace {

using kir::Expr;
using kir::integer;
using kir::Parameter;
using kir::Role;

Parameter read_only(const std::string& name, Role role, int index, DType dtype = DType::int32) {
  return {name, {dtype, true, true}, true, role, index};
}

Parameter plain_number(const std::string& name) {
  return {name, {DType::int64, true, false}, false, Role::local, 0};
}

kir::Stmt launch_stmt(const std::string& function, kir::Grid grid, Expr items,
                      std::vector<Expr> arguments) {
  return {kir::Launch{function, grid, std::move(items), std::move(arguments)}};
}

class LaunchListTest : public ::testing::Test {
 protected:
  LaunchListTest() {
    code.argv = arguments;
    code.functions = {{"wrap",
                       {read_only("x", Role::data, 0), plain_number("begin"), plain_number("end")},
                       {},
                       true,
                       0},
                      {"small", {read_only("s", Role::local, 0), plain_number("n")}, {}, true, 32}};
  }
  LaunchList list(std::int64_t n_items = 1000) {
    return flatten(program(), {arrays, n_items, {}}, rule);
  }
  [[nodiscard]] exec::LaunchProgram program() const { return exec::launch_program(code); }

  kir::Module code;
  std::vector<Parameter> arguments = {read_only("x", Role::data, 0, DType::float64),
                                      read_only("sizes", Role::plan, 0, DType::int64),
                                      read_only("offset", Role::plan, 1),
                                      read_only("rows", Role::plan, 2)};
  std::vector<std::int64_t> sizes = {3};
  std::vector<std::int32_t> offset = {0, 400, 400, 1000};
  std::vector<plan::HostArray> arrays = {{}, {sizes.data(), 8, 8}, {offset.data(), 16, 4}, {}};
  GridRule rule{128, 6};
};

TEST_F(LaunchListTest, ItemsGetBlocksUpToTheBound) {
  code.launch = {launch_stmt("wrap", kir::Grid::items, kir::name("end"),
                             {kir::name("x"), kir::name("begin"), kir::name("end")})};
  const LaunchList found = list(300);
  ASSERT_EQ(found.launches.size(), 1U);
  EXPECT_EQ(
      found.launches[0],
      (FlatLaunch{"wrap", {3, 128}, {LaunchSlot{false, 0}, std::int64_t{0}, std::int64_t{300}}}));
  EXPECT_EQ(list(100000).launches[0].grid, (Grid{6, 128}));
  EXPECT_EQ(list(1).launches[0].grid, (Grid{1, 128}));
}

TEST_F(LaunchListTest, ABlockOfATeamHasAllLanesOfTheKernel) {
  code.launch = {
      launch_stmt("small", kir::Grid::teams, kir::name("end"), {kir::name("x"), kir::name("end")})};
  const FlatLaunch launch = list(300).launches.at(0);
  EXPECT_EQ(launch.grid, (Grid{300, 32}));
  EXPECT_TRUE(launch.needs_all_lanes);
}

TEST_F(LaunchListTest, NothingIsLaunchedForNoItems) {
  code.launch = {launch_stmt("wrap", kir::Grid::items, kir::name("end"),
                             {kir::name("x"), integer(0), integer(0)})};
  EXPECT_TRUE(list(0).launches.empty());
}

TEST_F(LaunchListTest, AColouredLoopIsOneLaunchAColour) {
  const Expr begin = kir::element("offset", kir::name("colour"));
  const Expr end = kir::element("offset", kir::name("colour") + integer(1));
  code.launch = {{kir::For{
      kir::Axis::serial,
      "colour",
      integer(0),
      kir::element("sizes", integer(0)),
      {launch_stmt("wrap", kir::Grid::blocks, end - begin, {kir::name("x"), begin, end})}}}};
  const LaunchList found = list();
  ASSERT_EQ(found.launches.size(), 2U);  // the second colour is empty
  EXPECT_EQ(
      found.launches[0],
      (FlatLaunch{"wrap", {400, 128}, {LaunchSlot{false, 0}, std::int64_t{0}, std::int64_t{400}}}));
  EXPECT_EQ(
      found.launches[1],
      (FlatLaunch{
          "wrap", {600, 128}, {LaunchSlot{false, 0}, std::int64_t{400}, std::int64_t{1000}}}));
}

TEST_F(LaunchListTest, ScratchIsSizedByTheBlocksThereWillBe) {
  const Expr blocks = kir::blocks_for(kir::name("end"));
  code.launch = {{kir::Scratch{DType::float64, "s", blocks * integer(4)}},
                 launch_stmt("small", kir::Grid::single, integer(1), {kir::name("s"), blocks})};
  const LaunchList found = list(300);
  EXPECT_EQ(found.scratch, (std::vector<LaunchScratch>{{3 * 4 * 8, false}}));
  EXPECT_EQ(found.launches[0],
            (FlatLaunch{"small", {1, 32}, {LaunchSlot{true, 0}, std::int64_t{3}}}));
  EXPECT_TRUE(exec::asks_for_blocks(program()));
}

TEST_F(LaunchListTest, AStrideIsTheRowsOfAnArgument) {
  code.launch = {
      launch_stmt("small", kir::Grid::single, integer(1), {kir::name("x"), Expr{kir::Stride{1}}})};
  const LaunchList found = flatten(program(), {arrays, 10, {7, 9}}, rule);
  EXPECT_EQ(found.launches[0].arguments[1],
            (std::variant<LaunchSlot, std::int64_t>{std::int64_t{9}}));
}

TEST_F(LaunchListTest, LanesTakeTwoItemsBeforeManyBlocksBecomeMore) {
  code.launch = {launch_stmt("wrap", kir::Grid::items, kir::name("end"),
                             {kir::name("x"), kir::name("begin"), kir::name("end")})};
  rule = {128, 8, false, 4};
  const auto n_blocks = [this](std::int64_t n) { return list(n).launches[0].grid.n_blocks; };
  EXPECT_EQ(n_blocks(3 * 128), 3);
  EXPECT_EQ(n_blocks(4 * 128 + 1), 4);
  EXPECT_EQ(n_blocks(8 * 128), 4);
  EXPECT_EQ(n_blocks(11 * 128), 6);
  EXPECT_EQ(n_blocks(99 * 128), 8);
}

TEST_F(LaunchListTest, ItemsMayBeginAnywhere) {
  code.launch = {launch_stmt("wrap", kir::Grid::items, kir::name("end") - kir::name("begin"),
                             {kir::name("x"), kir::name("begin"), kir::name("end")})};
  const LaunchList found = flatten(program(), {arrays, 300, {}, 500}, rule);
  EXPECT_EQ(
      found.launches[0],
      (FlatLaunch{"wrap", {3, 128}, {LaunchSlot{false, 0}, std::int64_t{500}, std::int64_t{800}}}));
}

TEST_F(LaunchListTest, ValuesAreComputed) {
  code.launch = {
      {kir::Decl{{DType::int64, false, false}, "n", 0, {kir::minimum(integer(7), integer(5))}}},
      {kir::Assign{kir::name("n"), kir::Update::add, integer(9) % integer(4)}},
      {kir::If{
          kir::less(kir::name("n"), integer(6)),
          {launch_stmt("small", kir::Grid::single, integer(1), {kir::name("x"), integer(1)})}}},
      {kir::If{
          kir::equal(kir::name("n"), integer(6)),
          {launch_stmt("small", kir::Grid::single, integer(1),
                       {kir::name("x"), kir::select(kir::name("rows"), integer(1),
                                                    kir::widen(integer(20)) / integer(3))})}}}};
  const LaunchList found = list();
  ASSERT_EQ(found.launches.size(), 1U);
  EXPECT_EQ(std::get<std::int64_t>(found.launches[0].arguments[1]), 6);
  EXPECT_FALSE(exec::asks_for_blocks(program()));
}

TEST_F(LaunchListTest, WhatCannotBeIsOurFault) {
  const auto refused = [this](kir::Stmt statement) {
    code.launch = {std::move(statement)};
    EXPECT_THROW((void)list(), InternalError);
  };
  refused(launch_stmt("nobody", kir::Grid::single, integer(1), {}));
  refused(launch_stmt("small", kir::Grid::single, integer(1), {integer(1)}));
  refused(launch_stmt("small", kir::Grid::single, integer(1), {kir::name("nothing"), integer(1)}));
  refused(
      launch_stmt("small", kir::Grid::single, kir::name("nothing"), {kir::name("x"), integer(1)}));
  refused(launch_stmt("small", kir::Grid::single, kir::element("offset", integer(4)),
                      {kir::name("x"), integer(1)}));
  refused(launch_stmt("small", kir::Grid::single, kir::element("x", integer(0)),
                      {kir::name("x"), integer(1)}));
  refused({kir::Barrier{}});
  refused({kir::Intrinsic{kir::Instruction::arrive,
                          {kir::name("last"), kir::name("n"), kir::integer(1)}}});
  refused({kir::CallUser{}});
  refused({kir::If{integer(1) / integer(0), {}}});
}

GridRule rule_of(const DeviceInfo& device, const LoopTraits& loop) {
  const auto kind = device.is_cpu ? DeviceClass::processor : DeviceClass::gpu;
  return grid_rule(device, loop, Tuning::of(kind));
}

TEST(GridRule, FollowsTheDevice) {
  DeviceInfo gpu;
  gpu.n_units = 132;
  gpu.max_lanes = 1024;
  const GridRule free = rule_of(gpu, {0, false, false});
  EXPECT_GE(free.max_blocks * free.n_lanes, std::int64_t{1} << 24);
  const GridRule bounded = rule_of(gpu, {0, true, true});
  EXPECT_EQ(bounded.n_lanes, free.n_lanes);
  EXPECT_GT(rule_of(gpu, {0, true, false}).n_lanes, free.n_lanes);
  EXPECT_EQ(rule_of(gpu, {0, true, true, 136}), bounded);
  const GridRule light = rule_of(gpu, {0, true, true, 16});
  EXPECT_GT(light.n_lanes * light.max_blocks, bounded.n_lanes * bounded.max_blocks);
  EXPECT_EQ(light.few_blocks, light.max_blocks / 2);
  EXPECT_EQ(bounded.few_blocks, 0);
  const GridRule gathering = rule_of(gpu, {0, false, true});
  EXPECT_EQ(rule_of(gpu, {0, false, true, 16}), gathering);
  EXPECT_GT(gathering.max_blocks, bounded.max_blocks);
  EXPECT_TRUE(gathering.is_by_residence);
  EXPECT_FALSE(bounded.is_by_residence);
  EXPECT_FALSE(free.is_by_residence);
  EXPECT_LT(gathering.max_blocks, 132 * 32);
  EXPECT_EQ(rule_of(gpu, {100, true, false}).n_lanes, 64);
  EXPECT_EQ(rule_of(gpu, {1 << 20, false, false}).n_lanes, 1024);
  EXPECT_EQ(rule_of(gpu, {1, false, false}).n_lanes, 1);
  gpu.warp = 32;
  EXPECT_EQ(rule_of(gpu, {7, false, false}).n_lanes, 32);
  gpu.warp = 0;
  DeviceInfo cpu = gpu;
  cpu.is_cpu = true;
  cpu.n_units = 2;
  EXPECT_LT(rule_of(cpu, {0, false, false}).max_blocks, 1000);
  EXPECT_EQ(rule_of(cpu, {0, false, false}).n_lanes, 64);
  EXPECT_EQ(rule_of(cpu, {7, false, false}).n_lanes, 1);
  EXPECT_EQ(rule_of(cpu, {63, false, false}).n_lanes, 8);
  Tuning wide = Tuning::of(DeviceClass::gpu);
  wide.block_lanes = 512;
  wide.blocks_a_unit = 1;
  wide.blocks_a_unit_gathering = 2;
  EXPECT_EQ(grid_rule(gpu, {0, true, true}, wide), (GridRule{512, 132}));
  EXPECT_EQ(grid_rule(gpu, {0, false, true}, wide), (GridRule{512, 264}));
}

/// Numbers that a damaged file may hold: whatever they are, it ends, with launches or an error.
TEST_F(LaunchListTest, AnyNumberIsAnErrorOrALaunch) {
  using exec::Value;
  const auto lists = [this](const exec::Steps& steps) {
    try {
      (void)flatten({{{"wrap", 0}}, steps}, {arrays, 1000, {5}}, rule);
    } catch (const InternalError&) {
      return false;
    }
    return true;
  };
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::array numbers{least,           least + 1,       std::int64_t{-1}, std::int64_t{0},
                               std::int64_t{1}, std::int64_t{7}, most - 1,         most};
  for (const std::int64_t left : numbers) {
    const Value one{exec::Number{left}};
    for (const std::int64_t right : numbers) {
      const Value other{exec::Number{right}};
      for (int op = 0; op < 8; ++op) {
        const Value both{exec::Operation{static_cast<exec::Operator>(op), {one, other}}};
        (void)lists({{exec::Set{"n", both}}});
      }
      (void)lists({{exec::Repeat{"i", one, other, {}}}});
    }
    (void)lists({{exec::Allocate{0, 1 << 20, one, false}}});
    for (int kind = 0; kind < 3; ++kind) {
      EXPECT_TRUE(lists({{exec::LaunchStep{0, static_cast<exec::GridKind>(kind), one, {}}}}));
    }
    EXPECT_TRUE(lists({{exec::Set{"n", {exec::BlocksOf{{one}}}}}}));
    EXPECT_EQ(lists({{exec::Set{"n", {exec::Entry{1, 8, {one}}}}}}), left == 0);
  }
  const auto computes = [&lists](exec::Operator op, std::int64_t left, std::int64_t right) {
    return lists(
        {{exec::Set{"n", {exec::Operation{op, {{exec::Number{left}}, {exec::Number{right}}}}}}}});
  };
  EXPECT_FALSE(computes(exec::Operator::add, most, 1));
  EXPECT_FALSE(computes(exec::Operator::subtract, least, 1));
  EXPECT_FALSE(computes(exec::Operator::multiply, most, 2));
  EXPECT_FALSE(computes(exec::Operator::divide, least, -1));
  EXPECT_FALSE(computes(exec::Operator::modulo, 1, 0));
  EXPECT_TRUE(computes(exec::Operator::modulo, least, -1));
  EXPECT_FALSE(lists({{exec::Repeat{"i", {exec::Number{0}}, {exec::Number{most}}, {}}}}));
}

}  // namespace
}  // namespace op2::runtime
