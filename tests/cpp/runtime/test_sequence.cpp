// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/sequence.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/error.hpp"

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

class SequenceTest : public ::testing::Test {
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

TEST_F(SequenceTest, RunsLoopsInTheirOrderAsOftenAsAsked) {
  Sequence sequence({loop(twice), loop(more)});
  EXPECT_FALSE(sequence.run(3));
  EXPECT_EQ(x, 15.0);
}

TEST_F(SequenceTest, MayHoldALoopSeveralTimes) {
  const std::shared_ptr<PreparedLoop> one = loop(more);
  Sequence({one, one, one}).run(1);
  EXPECT_EQ(x, 4.0);
}

TEST_F(SequenceTest, WhatIsBehindALoopThatFailsDoesNotRun) {
  Sequence sequence({loop(twice), loop(fail), loop(more)});
  EXPECT_THROW(sequence.run(2), ExecutionError);
  EXPECT_EQ(x, 2.0);
}

TEST_F(SequenceTest, WithoutLoopsNothingHappens) {
  EXPECT_FALSE(Sequence({}).run(5));
}

}  // namespace
}  // namespace op2::runtime
