// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/phase_task.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace op2::runtime {
namespace {

using Launched = std::vector<std::pair<long, long>>;

/// The ranges launched; the ABI has no room for a pointer of a test's own.
Launched& launched() {
  static Launched instance;
  return instance;
}

int note_range(const op2_context_v1*, long begin, long end, void* const*, unsigned int) {
  launched().emplace_back(begin, end);
  return 0;
}

TEST(PhaseTask, TwoTasksAreOneCall) {
  launched().clear();
  std::vector<double> x(6);
  exec::Executable executable;
  executable.launch = note_range;
  executable.name = "res";
  executable.arguments = {
      {"x", {DType::float64, false, true}, true, abi::Role::data, 0},
  };
  Binding binding;
  binding.n_elements = 6;
  binding.n_boundary = 2;
  binding.arguments = {std::make_shared<mesh::Buffer>(x.data(), 48)};
  const auto timing = std::make_shared<Timing>();
  const auto loop =
      std::make_shared<PreparedLoop>(std::make_shared<exec::Executable>(executable), binding,
                                     LaunchOptions{}, std::make_shared<plan::PlanCache>(), timing);
  PhaseTask core(loop, Phase::core);
  PhaseTask boundary(loop, Phase::boundary);
  EXPECT_EQ(core.recorder(), nullptr);  // on the host
  EXPECT_EQ(core.uses().front().buffer, binding.arguments.front().get());
  core.run();
  EXPECT_EQ(binding.arguments.front()->version(), 0);
  boundary.run();
  EXPECT_EQ(launched(), (Launched{{0, 4}, {4, 6}}));
  EXPECT_EQ(binding.arguments.front()->version(), 1);
  EXPECT_EQ(timing->n_calls, 1);
  core.count_replays(3);
  boundary.count_replays(3);
  EXPECT_EQ(timing->n_calls, 4);
}

}  // namespace
}  // namespace op2::runtime
