// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu/repetition.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fake_driver.hpp"
#include "runtime/gpu/device.hpp"

namespace op2::runtime::gpu {
namespace {

class GpuRepetition : public ::testing::Test {
 protected:
  using Names = std::vector<std::string>;

  [[nodiscard]] Names launched() const {
    Names names;
    for (const auto& one : fake_.launches) names.push_back(one.kernel);
    return names;
  }

  testing::FakeGpu fake_;
  std::shared_ptr<Gpu> gpu_ = std::make_shared<Gpu>(fake_.driver(), 0);
  std::shared_ptr<Program> program_ = gpu_->load("adt res op2_waits");
  const RepeatCondition always_ = {
      {nullptr, DType::float64, 2}, {nullptr, DType::float64, 1}, false, 3};
};

TEST_F(GpuRepetition, AsksBeforeEachTime) {
  ASSERT_EQ(gpu_->start_repeating(always_), "");
  gpu_->launch(program_->kernel("adt"), Grid{2, 128}, {}, "adt_calc");
  gpu_->launch(program_->kernel("res"), Grid{2, 128}, {}, "res_calc");
  const Repeated made = gpu_->stop_repeating();
  ASSERT_NE(made.recording, nullptr) << made.why_not;
  EXPECT_EQ(launched(), Names{});
  EXPECT_NE(made.recording->native(), 0U);
  gpu_->repeat(*made.recording, 1);
  EXPECT_EQ(launched(),
            (Names{"op2_decide", "adt", "res", "op2_decide", "adt", "res", "op2_decide"}));
  EXPECT_EQ(gpu_->n_repeated(*made.recording), 3);
}

TEST_F(GpuRepetition, StartsNoKernelBeforeTheOneBeforeItHasEnded) {
  ASSERT_EQ(gpu_->start_repeating(always_), "");
  gpu_->launch(program_->kernel("adt"), Grid{2, 128}, {}, "adt_calc");
  gpu_->launch(program_->kernel("res"), Grid{2, 128}, {}, "res_calc");
  (void)gpu_->stop_repeating();
  EXPECT_EQ(fake_.n_early, 0);
}

TEST_F(GpuRepetition, IsOneAtATime) {
  ASSERT_TRUE(gpu_->start_recording());
  EXPECT_NE(gpu_->start_repeating(always_), "");
  EXPECT_NE(gpu_->stop_recording(), nullptr);
  EXPECT_EQ(gpu_->stop_repeating().recording, nullptr);
  EXPECT_EQ(fake_.n_graphs, 0);
}

TEST_F(GpuRepetition, KnowsWhatADriverLacks) {
  Driver driver = *fake_.driver();
  EXPECT_EQ(Repetition::why_not(driver), "");
  driver.graph_add_node = nullptr;
  EXPECT_EQ(Repetition::why_not(driver),
            "the driver is of CUDA 13.0; graphs repeat themselves from 12.4 on");
  driver.vendor.deciding_code = nullptr;
  EXPECT_EQ(Repetition::why_not(driver), "graphs of CUDA do not repeat themselves");
}

}  // namespace
}  // namespace op2::runtime::gpu
