// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/meter.hpp"

#include <gtest/gtest.h>

#include "runtime/recording_device.hpp"

namespace op2::runtime {
namespace {

using testing::RecordedProgram;
using testing::RecordingDevice;

class MeterTest : public ::testing::Test {
 protected:
  std::shared_ptr<RecordingDevice> device = std::make_shared<RecordingDevice>();
  Meter meter{device};
  std::shared_ptr<Timing> timing = std::make_shared<Timing>();
  RecordedProgram program;
  std::string loop = "res";

  void run(int n_launches, int n_calls = 1) {
    auto span = meter.open();
    for (int i = 0; i < n_launches; ++i) {
      device->launch(program.kernel("res"), Grid{1, 1}, {}, loop, span.get());
    }
    if (span) meter.close(std::move(span), timing, loop, {.n_calls = n_calls, .n_bytes = 16});
  }
};

TEST_F(MeterTest, AddsUpWhatIsDoneWhenTheNextIsMeasured) {
  device->start_clock();
  timing->trace->start(1);
  run(2);
  run(1);
  EXPECT_EQ(timing->n_measured, 0);
  EXPECT_EQ(device->n_waits, 0);
  device->finish();  // somebody else waits
  run(1);
  EXPECT_EQ(timing->n_measured, 2);
  EXPECT_EQ(timing->measured_nanoseconds, 3000);
  EXPECT_EQ(timing->measured_bytes, 32);
  const auto spans = timing->trace->spans();
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].what, "res");
  EXPECT_EQ(spans[0].place, "recorder");
  EXPECT_EQ(spans[0].nanoseconds, 2000);
  meter.settle();
  EXPECT_EQ(timing->n_measured, 3);
}

TEST_F(MeterTest, APartOfACallIsNoCallOfItsOwn) {
  device->start_clock();
  run(1, 0);
  run(1);
  meter.settle();
  EXPECT_EQ(timing->n_measured, 1);
  EXPECT_EQ(timing->measured_nanoseconds, 2000);
  EXPECT_EQ(timing->measured_bytes, 32);
}

TEST_F(MeterTest, MeasuresNothingWhereTheDeviceDoesNot) {
  EXPECT_EQ(meter.open(), nullptr);
}

TEST_F(MeterTest, LeavesCallsOutRatherThanWait) {
  device->start_clock();
  for (std::size_t i = 0; i < Meter::most_under_way + 5; ++i) run(1);
  EXPECT_EQ(device->n_waits, 0);
  meter.settle();
  EXPECT_EQ(timing->n_measured, static_cast<std::int64_t>(Meter::most_under_way));
}

}  // namespace
}  // namespace op2::runtime
