// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/device_loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "../base/message_of.hpp"
#include "exec/build.hpp"
#include "runtime/recording_device.hpp"

namespace op2::runtime {
namespace {

using kir::integer;
using kir::Parameter;
using kir::PlanArray;
using kir::Role;
using testing::RecordedProgram;
using testing::RecordingDevice;

Parameter pointer(const std::string& name, Role role, int index, DType dtype) {
  return {name, {dtype, false, true}, true, role, index};
}

Parameter planned(const std::string& name, PlanArray array, DType dtype) {
  return {name, {dtype, true, true}, true, Role::plan, 0, array};
}

Parameter number(const std::string& name) {
  return {name, {DType::int64, true, false}, false, Role::local, 0};
}

class DeviceLoopTest : public ::testing::Test {
 protected:
  DeviceLoopTest() {
    executable.name = "res";
    executable.arguments = {pointer("x", Role::data, 0, DType::float64),
                            pointer("gam", Role::constant, 0, DType::float64),
                            pointer("map", Role::map, 0, DType::int32),
                            planned("sizes", PlanArray::sizes, DType::int64),
                            planned("colour_offset", PlanArray::colour_offset, DType::int64),
                            planned("block_of", PlanArray::block_of, DType::int32)};
    code.functions = {
        {"res_block",
         {pointer("x", Role::data, 0, DType::float64),
          pointer("gam", Role::constant, 0, DType::float64),
          pointer("map", Role::map, 0, DType::int32),
          planned("block_of", PlanArray::block_of, DType::int32), number("block_offset")},
         {},
         true,
         0}};
    plan.arrays.add(PlanArray::sizes, {sizes.data(), 8, 8, map});
    plan.arrays.add(PlanArray::colour_offset, {colour_offset.data(), 32, 8, map});
    plan.arrays.add(PlanArray::block_of, {block_of.data(), 28, 4, map});
    plan.n_items = 7;
  }

  std::unique_ptr<DeviceLoop> loop() {
    code.argv = executable.arguments;
    executable.device = std::make_shared<exec::DeviceCode>(
        exec::DeviceCode{std::make_shared<RecordedProgram>(64), exec::launch_program(code)});
    return std::make_unique<DeviceLoop>(executable, mirror, maps, plan);
  }

  /// The launch of the strategies that colour: the colours' blocks, one colour after the other.
  void colour() {
    const kir::Expr begin = kir::element("colour_offset", kir::name("colour"));
    const kir::Expr end = kir::element("colour_offset", kir::name("colour") + integer(1));
    code.launch = {{kir::For{kir::Axis::serial,
                             "colour",
                             integer(0),
                             kir::element("sizes", integer(0)),
                             {{kir::Launch{"res_block",
                                           kir::Grid::blocks,
                                           end - begin,
                                           {kir::name("x"), kir::name("gam"), kir::name("map"),
                                            kir::name("block_of"), begin}}}}}}};
  }

  std::shared_ptr<RecordingDevice> device = std::make_shared<RecordingDevice>(
      DeviceInfo{"toy", "", "toy", "", "", 1 << 30, 1 << 30, 1 << 16, 4, 1024, 0, true, false});
  std::shared_ptr<mesh::Coherence> coherence = std::make_shared<mesh::Coherence>();
  std::shared_ptr<DeviceMirror> mirror = std::make_shared<DeviceMirror>(device, coherence);
  exec::Executable executable;
  kir::Module code;
  std::vector<std::int32_t> values = {0, 1};
  std::shared_ptr<mesh::MapTable> map = std::make_shared<mesh::MapTable>(values.data(), 4, 2, 1, 3);
  std::vector<std::shared_ptr<const mesh::MapTable>> maps = {map};
  std::vector<std::int64_t> sizes = {3};
  std::vector<std::int64_t> colour_offset = {0, 3, 5, 7};
  std::vector<std::int32_t> block_of = {0, 2, 4, 1, 3, 5, 6};
  DevicePlan plan;
  double x = 0.0;
  double gam = 0.0;
};

TEST_F(DeviceLoopTest, AColouredLoopIsLaunchedOnceAColourWithAnotherBlockOffset) {
  colour();
  const auto made = loop();
  EXPECT_EQ(made->n_launches(), 3U);
  EXPECT_TRUE(device->launches.empty());
  const std::vector<void*> addresses = {&x, &gam};
  made->run(addresses, executable.name);
  ASSERT_EQ(device->launches.size(), 3U);
  const std::int64_t n_blocks[] = {3, 2, 2};
  for (std::size_t c = 0; c < 3; ++c) {
    const RecordingDevice::Launched& launched = device->launches[c];
    EXPECT_EQ(launched.kernel, "res_block");
    EXPECT_EQ(launched.loop, "res");
    EXPECT_EQ(launched.grid.n_blocks, n_blocks[c]);
    EXPECT_EQ(launched.grid.n_lanes, device->launches[0].grid.n_lanes);
    // Only the last argument, the block offset, differs from launch to launch.
    EXPECT_EQ(std::get<std::int64_t>(launched.arguments.back()), colour_offset[c]);
    for (std::size_t i = 0; i + 1 < launched.arguments.size(); ++i) {
      EXPECT_EQ(launched.arguments[i], device->launches[0].arguments[i]);
    }
  }
  EXPECT_EQ(std::get<void*>(device->launches[0].arguments[0]), &x);
  EXPECT_EQ(std::get<void*>(device->launches[0].arguments[1]), &gam);
  const auto* there =
      static_cast<const std::int32_t*>(std::get<void*>(device->launches[0].arguments[3]));
  EXPECT_EQ(there[2], 4);
}

TEST_F(DeviceLoopTest, RunningUploadsAndAllocatesNothing) {
  colour();
  const auto made = loop();
  EXPECT_EQ(device->n_uploads, 2);  // the Map and block_of; sizes are for the host
  const int n_allocations = device->n_allocations;
  double other = 0.0;
  made->run(std::vector<void*>{&x, &gam}, executable.name);
  made->run(std::vector<void*>{&other, &gam}, executable.name);
  EXPECT_EQ(device->n_uploads, 2);
  EXPECT_EQ(device->n_allocations, n_allocations);
  EXPECT_EQ(device->n_waits, 0);
  EXPECT_EQ(std::get<void*>(device->launches[3].arguments[0]), &other);
}

TEST_F(DeviceLoopTest, ArraysOfMatricesAreUploadedOnceForAllLoops) {
  const auto positions = std::make_shared<std::vector<std::uint8_t>>(3, std::uint8_t{5});
  const Parameter parameter = pointer("position", Role::matrix, 1, DType::uint8);
  executable.arguments.push_back(parameter);
  code.functions[0].parameters = {parameter};
  code.launch = {{kir::Launch{"res_block", kir::Grid::items, integer(7), {kir::name("position")}}}};
  plan.matrices = {{}, {positions->data(), 3, 1, positions}};
  const auto made = loop();
  const auto again = loop();
  EXPECT_EQ(device->n_uploads, 1);
  made->run(std::vector<void*>{&x, &gam}, executable.name);
  const auto* there =
      static_cast<const std::uint8_t*>(std::get<void*>(device->launches[0].arguments[0]));
  EXPECT_EQ(there[2], 5);
}

TEST_F(DeviceLoopTest, BlocksAreNoLargerThanTheKernelAllows) {
  colour();
  plan.n_lanes = 512;
  loop()->run(std::vector<void*>{&x, &gam}, executable.name);
  EXPECT_EQ(device->launches[0].grid.n_lanes, 64);
  plan.n_lanes = 8;
  loop()->run(std::vector<void*>{&x, &gam}, executable.name);
  EXPECT_EQ(device->launches[3].grid.n_lanes, 8);
}

TEST_F(DeviceLoopTest, ATeamNeedsAllItsLanes) {
  code.functions = {{"sum", {pointer("s", Role::local, 0, DType::float64)}, {}, true, 64}};
  const auto launched = [this] {
    code.launch = {{kir::Scratch{DType::float64, "s", integer(8)}},
                   {kir::Launch{"sum", kir::Grid::teams, integer(5), {kir::name("s")}}}};
    loop()->run(std::vector<void*>{&x, &gam}, executable.name);
    return device->launches.back().grid;
  };
  plan.n_lanes = 8;
  EXPECT_EQ(launched(), (Grid{5, 64}));
  code.functions.front().max_lanes = 128;
  EXPECT_TRUE(op2::testing::contains(op2::testing::message_of<UnsupportedError>(launched),
                                     "needs blocks of 128 lanes, and the device takes 64"));
}

TEST_F(DeviceLoopTest, LargeScratchIsGivenBackBetweenRuns) {
  code.functions = {{"sum", {pointer("s", Role::local, 0, DType::float64)}, {}, true, 0}};
  for (const std::int64_t extent : {std::int64_t{8}, std::int64_t{1} << 20}) {
    code.launch = {{kir::Scratch{DType::float64, "s", integer(extent)}},
                   {kir::Launch{"sum", kir::Grid::single, integer(1), {kir::name("s")}}},
                   {kir::Launch{"sum", kir::Grid::single, integer(1), {kir::name("s")}}}};
    const auto made = loop();
    const int n_before = device->n_allocations;
    made->run(std::vector<void*>{&x, &gam}, executable.name);
    made->run(std::vector<void*>{&x, &gam}, executable.name);
    EXPECT_EQ(device->n_allocations - n_before, extent > 8 ? 2 : 0);
    const auto& launches = device->launches;
    EXPECT_EQ(launches[launches.size() - 1].arguments, launches[launches.size() - 2].arguments);
    EXPECT_NE(std::get<void*>(launches.back().arguments[0]), nullptr);
  }
}

TEST_F(DeviceLoopTest, ScratchThatIsZeroIsKept) {
  code.functions = {{"sum", {pointer("s", Role::local, 0, DType::uint8)}, {}, true, 0}};
  constexpr std::int64_t extent = std::int64_t{1} << 20;
  code.launch = {{kir::Scratch{DType::uint8, "s", integer(extent), /*is_zero=*/true}},
                 {kir::Launch{"sum", kir::Grid::single, integer(1), {kir::name("s")}}}};
  const auto made = loop();
  const int n_before = device->n_allocations;
  made->run(std::vector<void*>{&x, &gam}, executable.name);
  const auto* memory =
      static_cast<unsigned char*>(std::get<void*>(device->launches.back().arguments[0]));
  EXPECT_TRUE(std::all_of(memory, memory + extent, [](unsigned char byte) { return byte == 0; }));
  made->run(std::vector<void*>{&x, &gam}, executable.name);
  EXPECT_EQ(std::get<void*>(device->launches.back().arguments[0]), memory);
  EXPECT_EQ(device->n_allocations, n_before);
}

}  // namespace
}  // namespace op2::runtime
