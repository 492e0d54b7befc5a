// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/loop_graph.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/error.hpp"
#include "runtime/prepared_loop.hpp"

namespace op2::runtime {
namespace {

using exec::Executable;

/// Multiplies by two, then the next one adds one: the order shows in the result.
int twice(const op2_context_v1*, long, long, void* const* argv, unsigned int) {
  *static_cast<double*>(argv[0]) *= 2.0;
  return 0;
}

int more(const op2_context_v1*, long, long, void* const* argv, unsigned int) {
  *static_cast<double*>(argv[0]) += 1.0;
  return 0;
}

int fail(const op2_context_v1* context, long, long, void* const*, unsigned int) {
  context->error[0] = 3;
  return 3;
}

class HostGraphTest : public ::testing::Test {
 protected:
  std::shared_ptr<PreparedLoop> loop(op2_launch_v1 launch) {
    auto executable = std::make_shared<Executable>();
    executable->launch = launch;
    executable->name = "loop";
    executable->arguments = {{"x", {DType::float64, false, true}, true, abi::Role::data, 0}};
    Binding binding;
    binding.n_elements = 1;
    binding.arguments = {buffer};
    return std::make_shared<PreparedLoop>(executable, binding, LaunchOptions{},
                                          std::make_shared<plan::PlanCache>(),
                                          std::make_shared<Timing>());
  }

  double x = 1.0;
  std::shared_ptr<mesh::Buffer> buffer = std::make_shared<mesh::Buffer>(&x, 8);
};

TEST_F(HostGraphTest, RunsLoopsInTheirOrderAsOftenAsAsked) {
  const auto graph = ready_graph({{{}, loop(twice)}, {{0}, loop(more)}});
  EXPECT_FALSE(graph->submit(3));
  EXPECT_EQ(x, 15.0);
  EXPECT_EQ(graph->native(), 0U);
}

TEST_F(HostGraphTest, MayHoldALoopSeveralTimes) {
  const LoopKernel one = loop(more);
  (void)ready_graph({{{}, one}, {{0}, one}, {{0, 1}, one}})->submit(1);
  EXPECT_EQ(x, 4.0);
}

TEST_F(HostGraphTest, RunsTheLoopsOfGraphsWithinItInTheirPlace) {
  const std::vector<LoopStep> inner = {{{}, loop(twice)}, {{0}, loop(more)}};
  (void)ready_graph({{{}, loop(more)}, {{0}, inner}, {{1}, loop(twice)}})->submit(1);
  EXPECT_EQ(x, 10.0);
}

TEST_F(HostGraphTest, WhatIsBehindALoopThatFailsDoesNotRun) {
  const auto graph = ready_graph({{{}, loop(twice)}, {{0}, loop(fail)}, {{1}, loop(more)}});
  EXPECT_THROW(graph->submit(2), ExecutionError);
  EXPECT_EQ(x, 2.0);
}

TEST_F(HostGraphTest, WithoutLoopsNothingHappens) {
  EXPECT_FALSE(ready_graph({})->submit(5));
}

TEST_F(HostGraphTest, StepsThatWaitForLaterOnesAreRefused) {
  EXPECT_THROW((void)ready_graph({{{1}, loop(more)}, {{}, loop(more)}}), UsageError);
  EXPECT_EQ(x, 1.0);
}

}  // namespace
}  // namespace op2::runtime
