// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu/memory.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "../../base/message_of.hpp"
#include "base/error.hpp"
#include "fake_driver.hpp"

namespace op2::runtime::gpu {
namespace {

class GpuMemory : public ::testing::TestWithParam<bool> {
 protected:
  GpuMemory() {
    gpu_.has_pools = GetParam();
    context_ = std::make_shared<Context>(gpu_.driver(), 0);
    memory_ = std::make_unique<Memory>(context_);
  }
  testing::FakeGpu gpu_;
  std::shared_ptr<Context> context_;
  std::unique_ptr<Memory> memory_;
};

TEST_P(GpuMemory, IsGivenBackWithItsLastOwner) {
  std::shared_ptr<void> block = memory_->allocate(800, "Dat 'q'");
  EXPECT_EQ(gpu_.n_used, 800U);
  std::shared_ptr<void> other = block;
  block.reset();
  EXPECT_EQ(gpu_.n_used, 800U);
  other.reset();
  EXPECT_EQ(gpu_.n_used, 0U);
}

TEST_P(GpuMemory, OwnersMayOutliveTheGpu) {
  std::shared_ptr<void> block = memory_->allocate(8, "Dat 'q'");
  memory_.reset();
  context_.reset();
  EXPECT_EQ(gpu_.n_contexts, 1);
  block.reset();
  EXPECT_EQ(gpu_.n_used, 0U);
  EXPECT_EQ(gpu_.n_contexts, 0);
}

TEST_P(GpuMemory, NothingIsAByte) {
  const std::shared_ptr<void> block = memory_->allocate(0, "Dat 'empty'");
  EXPECT_NE(block, nullptr);
  EXPECT_EQ(gpu_.n_used, 1U);
}

TEST_P(GpuMemory, AFullGpuSaysWhoWantsWhatAndWhoHasTheRest) {
  std::vector<std::shared_ptr<void>> held;
  for (int i = 0; i < 7; ++i) {
    held.push_back(memory_->allocate(100000 + i * 1000, "Dat 'd" + std::to_string(i) + "'"));
  }
  const std::string message = op2::testing::message_of<ExecutionError>(
      [&] { static_cast<void>(memory_->allocate(400000, "Dat 'q'")); });
  EXPECT_TRUE(op2::testing::contains(message, "cuda device 0 (NVIDIA Imagination) is full",
                                     "Dat 'q' needs 400.0 kB", "279.0 kB of 1.0 MB are free",
                                     "loops hold 721.0 kB: Dat 'd6' 106.0 kB", "and 2 more"));
  EXPECT_EQ(gpu_.n_trims, GetParam() ? 1 : 0);
  held.clear();
  EXPECT_NO_THROW(static_cast<void>(memory_->allocate(400000, "Dat 'q'")));
}

TEST_P(GpuMemory, GivesNoMoreThanAllowed) {
  memory_->limit(1000);
  const std::shared_ptr<void> block = memory_->allocate(800, "Dat 'q'");
  const std::string message = op2::testing::message_of<OutOfMemoryError>(
      [&] { static_cast<void>(memory_->allocate(400, "Dat 'r'")); });
  EXPECT_TRUE(op2::testing::contains(message, "Dat 'r' needs 400 bytes",
                                     "200 bytes of 1.0 kB that init(device_memory=) allows"));
  memory_->limit(0);
  EXPECT_NO_THROW(static_cast<void>(memory_->allocate(400, "Dat 'r'")));
}

INSTANTIATE_TEST_SUITE_P(Pools, GpuMemory, ::testing::Bool());

}  // namespace
}  // namespace op2::runtime::gpu
