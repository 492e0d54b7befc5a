// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "fake_driver.hpp"
#include "runtime/gpu/device.hpp"

namespace op2::runtime::gpu {
namespace {

class GpuRecording : public ::testing::Test {
 protected:
  testing::FakeGpu fake_;
  std::shared_ptr<Gpu> gpu_ = std::make_shared<Gpu>(fake_.driver(), 0);
  std::shared_ptr<Program> program_ = gpu_->load("adt res combine");

  void launch(const std::string& kernel) {
    gpu_->launch(program_->kernel(kernel), Grid{2, 128}, {}, kernel + "_calc");
  }

  [[nodiscard]] std::vector<std::string> launched() const {
    std::vector<std::string> names;
    for (const auto& one : fake_.launches) names.push_back(one.kernel);
    return names;
  }
};

using Names = std::vector<std::string>;

TEST_F(GpuRecording, WhatIsRecordedRunsWhenItIsReplayedAndAsOften) {
  ASSERT_TRUE(gpu_->start_recording());
  launch("adt");
  launch("res");
  EXPECT_EQ(launched(), Names{});
  const std::unique_ptr<Recording> recording = gpu_->stop_recording();
  ASSERT_NE(recording, nullptr);
  EXPECT_NE(recording->native(), 0U);
  EXPECT_EQ(launched(), Names{});
  gpu_->replay(*recording);
  launch("combine");
  gpu_->replay(*recording);
  EXPECT_EQ(launched(), (Names{"adt", "res", "combine", "adt", "res"}));
  EXPECT_EQ(fake_.n_graphs, 0);
  EXPECT_TRUE(fake_.current.empty());
}

TEST_F(GpuRecording, OtherThreadsLaunchAsEver) {
  ASSERT_TRUE(gpu_->start_recording());
  launch("adt");
  std::thread([this] {
    launch("res");
    EXPECT_FALSE(gpu_->start_recording());
    EXPECT_EQ(gpu_->stop_recording(), nullptr);
  }).join();
  EXPECT_EQ(launched(), Names{"res"});
  const std::unique_ptr<Recording> recording = gpu_->stop_recording();
  gpu_->replay(*recording);
  EXPECT_EQ(launched(), (Names{"res", "adt"}));
}

TEST_F(GpuRecording, NothingIsLeftBehind) {
  const int n_streams = fake_.n_streams;
  {
    ASSERT_TRUE(gpu_->start_recording());
    launch("adt");
    const std::unique_ptr<Recording> recording = gpu_->stop_recording();
    EXPECT_EQ(fake_.graphs.size(), 1U);
  }
  EXPECT_EQ(fake_.graphs.size(), 0U);
  EXPECT_EQ(fake_.n_streams, n_streams);
}

TEST_F(GpuRecording, WhatTheDriverRefusesIsNotThere) {
  fake_.refuses_graphs = 801;
  ASSERT_TRUE(gpu_->start_recording());
  launch("adt");
  EXPECT_EQ(gpu_->stop_recording(), nullptr);
  EXPECT_EQ(fake_.n_graphs, 0);
  launch("res");
  EXPECT_EQ(launched(), Names{"res"});
}

TEST_F(GpuRecording, CommandsOfOtherLibrariesGoWhereLaunchesGo) {
  const std::uintptr_t usual = gpu_->command_stream();
  EXPECT_EQ(usual, gpu_->exchange_place().stream);
  ASSERT_TRUE(gpu_->start_recording());
  EXPECT_NE(gpu_->command_stream(), usual);
  std::thread([&] { EXPECT_EQ(gpu_->command_stream(), usual); }).join();
  (void)gpu_->stop_recording();
  EXPECT_EQ(gpu_->command_stream(), usual);
}

TEST_F(GpuRecording, ALaunchBehindACommandDoesNotStartEarly) {
  const std::shared_ptr<Program> early = gpu_->load("one two op2_waits");
  const auto go = [&](const char* kernel) {
    gpu_->launch(early->kernel(kernel), Grid{2, 128}, {}, "loop");
  };
  const std::shared_ptr<void> memory = gpu_->allocate(8, "a number");
  ASSERT_TRUE(gpu_->start_recording());
  go("one");
  gpu_->zero(memory.get(), 0, 8);
  go("two");
  go("one");
  const std::unique_ptr<Recording> recording = gpu_->stop_recording();
  ASSERT_EQ(fake_.graphs.size(), 1U);
  std::vector<bool> is_early;
  for (const auto& one : fake_.graphs.begin()->second) is_early.push_back(one.is_early);
  EXPECT_EQ(is_early, (std::vector<bool>{true, false, false, true}));
}

TEST_F(GpuRecording, AnOldDriverHasNoGraphs) {
  fake_.has_graphs = false;
  Gpu old(fake_.driver(), 0);
  EXPECT_FALSE(old.start_recording());
}

}  // namespace
}  // namespace op2::runtime::gpu
