// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/queue_task.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "gpu/fake_driver.hpp"
#include "recording_device.hpp"
#include "runtime/gpu/device.hpp"
#include "runtime/sequence.hpp"
#include "runtime/value_tasks.hpp"

namespace op2::runtime {
namespace {

/// Two numbers, of which a function adds the first to the second.
class QueueTasks : public ::testing::Test {
 protected:
  QueueTasks() {
    for (std::size_t i = 0; i < 2; ++i) {
      buffers_[i] = std::make_shared<mesh::Buffer>(coherence_, "Dat", mesh::Layout{false, 1, 8});
      buffers_[i]->reset(&values_[i], 8);
    }
  }

  std::shared_ptr<QueueTask> task(std::shared_ptr<DeviceMirror> mirror) {
    return std::make_shared<QueueTask>(
        std::move(mirror), "call of a library",
        QueueUses{{buffers_[0], false}, {buffers_[1], true}},
        [this](std::optional<std::uintptr_t> queue, const std::vector<std::uintptr_t>& addresses) {
          queues_.push_back(queue);
          addresses_ = addresses;
          if (!queue) *number(addresses[1]) += *number(addresses[0]);
        });
  }

  static double* number(std::uintptr_t address) { return reinterpret_cast<double*>(address); }

  gpu::testing::FakeGpu fake_;
  std::shared_ptr<mesh::Coherence> coherence_ = std::make_shared<mesh::Coherence>();
  std::array<double, 2> values_ = {1, 2};
  std::array<std::shared_ptr<mesh::Buffer>, 2> buffers_;
  std::vector<std::optional<std::uintptr_t>> queues_;
  std::vector<std::uintptr_t> addresses_;
};

TEST_F(QueueTasks, WorkOnTheHost) {
  EXPECT_FALSE(task(nullptr)->run());
  EXPECT_EQ(values_[1], 3.0);
  EXPECT_EQ(queues_, (std::vector<std::optional<std::uintptr_t>>{std::nullopt}));
  EXPECT_EQ(buffers_[1]->version(), 1);
  EXPECT_EQ(buffers_[0]->version(), 0);
}

TEST_F(QueueTasks, GetTheQueueOfAGpuAndAreNotCalledByAReplay) {
  const auto gpu = std::make_shared<gpu::Gpu>(fake_.driver(), 0);
  const auto mirror = std::make_shared<DeviceMirror>(gpu, coherence_);
  const auto zero = std::make_shared<FillTask>(mirror, buffers_[0], std::vector<std::byte>{});
  EXPECT_TRUE(QueueTask::is_possible(*mirror));
  const auto own = task(mirror);
  Sequence sequence({own, zero, zero});
  EXPECT_TRUE(sequence.run(1));  // the values go there
  ASSERT_EQ(queues_.size(), 1U);
  EXPECT_EQ(number(addresses_[0]), buffers_[0]->memory_on(*gpu).get());
  EXPECT_EQ(number(addresses_[1]), buffers_[1]->memory_on(*gpu).get());
  EXPECT_FALSE(sequence.run(1));  // recorded, on a queue of the recording, and replayed
  ASSERT_EQ(queues_.size(), 2U);
  EXPECT_NE(queues_[0], queues_[1]);
  EXPECT_NE(sequence.native(), 0U);
  EXPECT_EQ(buffers_[1]->version(), 2);
}

TEST_F(QueueTasks, AreRefusedWhereLibrariesKnowNoQueue) {
  const auto device = std::make_shared<testing::RecordingDevice>();
  const auto mirror = std::make_shared<DeviceMirror>(device, coherence_);
  EXPECT_FALSE(QueueTask::is_possible(*mirror));
  EXPECT_THROW((void)task(mirror)->run(), UnsupportedError);
  EXPECT_TRUE(queues_.empty());
}

}  // namespace
}  // namespace op2::runtime
