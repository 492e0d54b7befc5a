// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/host/team_loop.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <vector>

#include "base/error.hpp"
#include "runtime/prepared_loop.hpp"

namespace op2::runtime {
namespace {

/// Says with what flags it was called, and does as its first argument says.
int note_flags(const op2_context_v1* context, long, long end, void* const* argv, unsigned int) {
  auto* x = static_cast<double*>(argv[0]);
  x[0] += static_cast<double>(end);
  if (x[1] > 0) context->error[0] = 7;
  return static_cast<int>(context->flags);
}

class PreparedTeamLoop : public ::testing::Test {
 protected:
  std::shared_ptr<PreparedLoop> prepared(std::int64_t n_elements, bool is_parallel) {
    auto executable = std::make_shared<exec::Executable>();
    executable->launch = note_flags;
    executable->name = "loop";
    executable->is_parallel = is_parallel;
    executable->arguments = {{"x", {DType::float64, false, true}, true, abi::Role::data, 0}};
    Binding binding;
    binding.n_elements = n_elements;
    binding.arguments = {buffer};
    LaunchOptions options;
    options.n_threads = 2;
    options.tuning.short_microseconds = 0;
    return std::make_shared<PreparedLoop>(executable, binding, options,
                                          std::make_shared<plan::PlanCache>(), timing);
  }

  std::vector<double> x = std::vector<double>(2);
  std::shared_ptr<mesh::Buffer> buffer = std::make_shared<mesh::Buffer>(x.data(), 16);
  std::shared_ptr<Timing> timing = std::make_shared<Timing>();
};

TEST_F(PreparedTeamLoop, IsTheLoopItselfInTwoHalves) {
  const auto loop = prepared(2048, true);
  TeamLoop* team = loop->team_loop();
  ASSERT_NE(team, nullptr);
  EXPECT_TRUE(team->opens_team());
  const std::unique_lock held = team->lock();
  EXPECT_FALSE(team->make_ready_for_team());
  EXPECT_EQ(buffer->version(), 1);
  EXPECT_EQ(timing->n_calls, 1);
  EXPECT_EQ(team->context().n_threads, 2);
  EXPECT_EQ(x[0], 0.0) << "nothing is launched yet";
  op2_context_v1 context = team->context();
  context.flags = OP2_IN_TEAM;
  EXPECT_EQ(team->launch(context), static_cast<int>(OP2_IN_TEAM));
  EXPECT_EQ(x[0], 2048.0);
  EXPECT_FALSE(team->has_failed());
  team->check(0);
  const std::int64_t before = timing->nanoseconds;
  team->note_launch(trace_clock() - 1000, false);
  EXPECT_GE(timing->nanoseconds, before + 1000);
}

TEST_F(PreparedTeamLoop, OneThreadCarriesOutWhatOpensNoTeam) {
  const auto loop = prepared(2048, false);
  TeamLoop* team = loop->team_loop();
  EXPECT_FALSE(team->opens_team());
  const std::unique_lock held = team->lock();
  team->make_ready_for_team();
  EXPECT_EQ(team->context().flags, OP2_ONE_THREAD);
}

TEST_F(PreparedTeamLoop, OverNothingNothingIsLaunched) {
  const auto loop = prepared(0, true);
  TeamLoop* team = loop->team_loop();
  const std::unique_lock held = team->lock();
  team->make_ready_for_team();
  EXPECT_EQ(team->context().flags, OP2_ONE_THREAD);
  op2_context_v1 context = team->context();
  for (const unsigned int flags : {0U, OP2_ONE_THREAD, OP2_IN_TEAM}) {
    context.flags = flags;
    EXPECT_EQ(team->launch(context), 0);
  }
}

TEST_F(PreparedTeamLoop, AFailedCheckIsKnownAndThenThrown) {
  const auto loop = prepared(2048, true);
  TeamLoop* team = loop->team_loop();
  const std::unique_lock held = team->lock();
  x[1] = 1.0;
  team->make_ready_for_team();
  team->launch(team->context());
  EXPECT_TRUE(team->has_failed());
  EXPECT_THROW(team->check(0), ExecutionError);
  EXPECT_THROW(team->check(3), ExecutionError);
  x[1] = 0.0;
  team->make_ready_for_team();
  EXPECT_FALSE(team->has_failed());
}

}  // namespace
}  // namespace op2::runtime
