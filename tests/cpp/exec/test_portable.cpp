// SPDX-License-Identifier: BSD-3-Clause
#include "exec/portable.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"

namespace op2::exec {
namespace {

Executable example() {
  Executable made;
  made.name = "res";
  made.strategy = "owner";
  made.is_parallel = true;
  made.items = abi::Items::groups;
  made.arguments = {{"q", {DType::float64, true, true, 4}, true, abi::Role::data, 0},
                    {"incidence",
                     {DType::int32, true, true},
                     true,
                     abi::Role::plan,
                     1,
                     abi::PlanArray::lane_colour},
                    {"stride", {DType::int64}, false, abi::Role::stride, 2}};
  made.data = {{Access::inc, DType::float32, DType::float64, false},
               {Access::max, DType::complex128, DType::complex128, true}};
  made.plan.kind = abi::PlanKind::columns;
  made.plan.listed = {{1, 2, 3}};
  made.plan.place_bytes = 8;
  made.plan.conflicts = {0, 2};
  made.plan.occurrences = {1};
  made.plan.block_size = 128;
  made.plan.single_block = true;
  made.plan.staged = {3};
  made.plan.interleaved = 2;
  made.plan.listed_maps = {1, 0};
  made.plan.lanes = 8;
  made.plan.composed = {4, 5};
  made.plan.composed_bytes = 8;
  made.plan.corners = {{1, 3}, {0, 2}};
  made.plan.all_targets = true;
  made.plan.further = {{2, 3}, {6}};
  made.scratch = {16, 8, -1};
  return made;
}

TEST(Portable, WhatWasWrittenIsReadAgain) {
  const Executable written = example();
  const std::string text = canonical(written);
  const auto read = read_executable(text);
  EXPECT_EQ(canonical(*read), text);
  EXPECT_EQ(read->name, written.name);
  EXPECT_EQ(read->strategy, written.strategy);
  EXPECT_EQ(read->is_parallel, written.is_parallel);
  EXPECT_EQ(read->items, written.items);
  EXPECT_EQ(read->arguments, written.arguments);
  EXPECT_EQ(read->data, written.data);
  EXPECT_EQ(read->plan, written.plan);
  EXPECT_EQ(read->scratch, written.scratch);
  EXPECT_EQ(read->device, nullptr);
  EXPECT_EQ(read->launch, nullptr);
}

TEST(Portable, WhatADeviceLaunchesIsKept) {
  Executable written = example();
  LaunchProgram program{{{"wrap_res", 256}}, {{LaunchStep{0, GridKind::items, {Number{7}}, {}}}}};
  written.device = std::make_shared<const DeviceCode>(DeviceCode{nullptr, program});
  const auto read = read_executable(canonical(written));
  ASSERT_NE(read->device, nullptr);
  EXPECT_EQ(read->device->launch, program);
}

TEST(Portable, KernelsOfAProgramOfManyLoopsHaveNamesOfTheirOwn) {
  Executable written = example();
  EXPECT_THROW((void)read_executable(canonical(written), nullptr, ""), UsageError);
  const LaunchProgram program{{{"wrap_res", 256}, {"sum_res", 0}}, {}};
  written.device = std::make_shared<const DeviceCode>(DeviceCode{nullptr, program});
  const auto read = read_executable(canonical(written), nullptr, "_loop3");
  ASSERT_NE(read->device, nullptr);
  const std::vector<LaunchedKernel> expected = {{"wrap_res_loop3", 256}, {"sum_res_loop3", 0}};
  EXPECT_EQ(read->device->launch.kernels, expected);
}

TEST(Portable, EveryTextThatWasCutShortIsRefused) {
  const std::string text = canonical(example());
  for (std::size_t n = 0; n < text.size(); ++n) {
    EXPECT_THROW((void)read_executable(text.substr(0, n)), UsageError) << n;
  }
  EXPECT_THROW((void)read_executable(text + "s1:x"), UsageError);
}

TEST(Portable, WhatIsNoNumberOfAnEnumeratorIsRefused) {
  Executable wrong = example();
  wrong.items = static_cast<abi::Items>(9);
  EXPECT_THROW((void)read_executable(canonical(wrong)), UsageError);
  wrong = example();
  wrong.plan.kind = static_cast<abi::PlanKind>(99);
  EXPECT_THROW((void)read_executable(canonical(wrong)), UsageError);
}

}  // namespace
}  // namespace op2::exec
