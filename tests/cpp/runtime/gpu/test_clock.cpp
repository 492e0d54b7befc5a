// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu/clock.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.hpp"
#include "base/trace.hpp"
#include "fake_driver.hpp"
#include "runtime/gpu/device.hpp"
#include "runtime/meter.hpp"

namespace op2::runtime::gpu {
namespace {

class GpuClock : public ::testing::Test {
 protected:
  testing::FakeGpu fake_;
  std::shared_ptr<Gpu> gpu_ = std::make_shared<Gpu>(fake_.driver(), 0);
  std::shared_ptr<Program> program_ = gpu_->load("res");

  void launch() { gpu_->launch(program_->kernel("res"), Grid{2, 128}, {}, "res"); }
};

TEST_F(GpuClock, MeasuresLaunchesBetweenTwoEventsAndWaitsForNothing) {
  EXPECT_EQ(gpu_->open_span(), nullptr);  // nobody has started the clock
  gpu_->start_clock();
  const int n_waits = fake_.n_waits;
  const std::int64_t before = trace_clock();
  fake_.is_busy = true;
  const auto span = gpu_->open_span();
  ASSERT_NE(span, nullptr);
  launch();
  launch();
  gpu_->close_span(*span);
  launch();
  EXPECT_FALSE(span->measured().has_value());
  fake_.is_busy = false;
  const auto found = span->measured();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->nanoseconds, 2'000'000);
  EXPECT_LE(found->begin, before);  // the clock was started before
  EXPECT_EQ(fake_.n_waits, n_waits);
  gpu_->stop_clock();
  EXPECT_EQ(gpu_->open_span(), nullptr);
}

TEST_F(GpuClock, UsesItsEventsAgainAndMakesNoMoreThanItMay) {
  gpu_->start_clock();
  for (int i = 0; i < 10; ++i) gpu_->close_span(*gpu_->open_span());
  EXPECT_EQ(fake_.n_events, 3);  // with that of the start
  std::vector<std::unique_ptr<DeviceSpan>> spans;
  while (auto span = gpu_->open_span()) spans.push_back(std::move(span));
  EXPECT_EQ(spans.size(), Clock::most_events / 2);
  spans.clear();
  EXPECT_NE(gpu_->open_span(), nullptr);
  program_.reset();
  gpu_.reset();
  EXPECT_EQ(fake_.n_events, 0);
}

TEST_F(GpuClock, AFaultIsNeverMeasured) {
  gpu_->start_clock();
  Meter meter(gpu_);
  const auto timing = std::make_shared<Timing>();
  fake_.broken_kernel = "res";
  auto span = meter.open();
  launch();
  meter.close(std::move(span), timing, "res", {.n_calls = 1, .n_bytes = 8});
  EXPECT_THROW(meter.settle(), ExecutionError);
  EXPECT_EQ(timing->n_measured, 0);
}

}  // namespace
}  // namespace op2::runtime::gpu
