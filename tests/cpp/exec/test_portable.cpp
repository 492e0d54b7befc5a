// SPDX-License-Identifier: BSD-3-Clause
#include "exec/portable.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <variant>
#include <vector>

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
  made.plan = abi::PairsPlan{{{1}, true, {{2, 3}, {6}}}, {{4, 5}, 8}, 6, {{1, 3}, {0, 2}}};
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

TEST(Portable, EachKindOfPlanIsReadAgain) {
  const std::vector<abi::PlanSpec> plans = {
      abi::NoPlan{},
      abi::BlocksPlan{},
      abi::BlocksPlan{std::vector<int>{}},
      abi::BlocksPlan{std::vector{0, 2}},
      abi::ColoursPlan{{1, 0}},
      abi::InversePlan{{{1}, true, {{2, 3}, {6}}}},
      abi::StagedPlan{{0}, 128, {0, 1, 0}},
      abi::PaddedPlan{{{2}}},
      abi::PairsPlan{{{1}}, {{4, 5}, 8}, 6, {{1, 3}, {0, 2}}},
      abi::InterleavedPlan{2},
      abi::ColumnsPlan{{{1}, true, {{0}}}, 8, {{3}, 8}},
      abi::ColumnsPlan{{{1}, true}, 8, {{3}, 8}, true, {{3, 2}}},
      abi::EntriesPlan{64, 8, {{1, 2, 3}}, {1, 0}},
  };
  std::set<std::size_t> kinds;
  for (const abi::PlanSpec& plan : plans) {
    Executable written;
    written.plan = plan;
    EXPECT_EQ(read_executable(canonical(written))->plan, plan) << plan.index();
    kinds.insert(plan.index());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<abi::PlanSpec>);
}

TEST(Portable, AKindOfPlanThatIsNoneIsRefused) {
  Executable written;
  const std::string text = canonical(written);
  const std::string none = "n1:0(4:none)";
  const std::size_t at = text.find(none);
  ASSERT_NE(at, std::string::npos) << text;
  for (const char* wrong : {"n2:10(4:none)", "n2:-1(4:none)", "n1:1(4:none)"}) {
    std::string damaged = text;
    damaged.replace(at, none.size(), wrong);
    EXPECT_THROW((void)read_executable(damaged), UsageError) << wrong;
  }
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
}

}  // namespace
}  // namespace op2::exec
