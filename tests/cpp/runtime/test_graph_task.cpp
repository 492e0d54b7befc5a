// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/graph_task.hpp"

#include <gtest/gtest.h>

#include <array>

#include "recording_device.hpp"
#include "runtime/device_mirror.hpp"
#include "runtime/value_tasks.hpp"

namespace op2::runtime {
namespace {

/// Buffers of which any two can be exchanged on a device.
class GraphTasks : public ::testing::Test {
 protected:
  GraphTasks() {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      buffers[i] = std::make_shared<mesh::Buffer>(coherence, "Dat", mesh::Layout{false, 1, 8});
      buffers[i]->reset(&values[i], 8);
    }
  }

  /// A task that has been made ready, with the source's values on the device alone.
  std::shared_ptr<GraphTask> exchange(std::size_t target, std::size_t source) {
    (void)buffers[source]->on_device(device, mesh::Use::write, {"a loop"});
    auto task = std::make_shared<ExchangeTask>(mirror, buffers[target], buffers[source]);
    std::vector<std::uintptr_t> state;
    (void)task->make_ready(state);
    return task;
  }

  std::shared_ptr<testing::RecordingDevice> device = std::make_shared<testing::RecordingDevice>();
  std::shared_ptr<mesh::Coherence> coherence = std::make_shared<mesh::Coherence>();
  std::shared_ptr<DeviceMirror> mirror = std::make_shared<DeviceMirror>(device, coherence);
  std::array<double, 3> values = {1, 2, 3};
  std::array<std::shared_ptr<mesh::Buffer>, 3> buffers;
};

TEST_F(GraphTasks, ExchangesOfTheSameTwoCancelInPairs) {
  const auto one = exchange(0, 1);
  EXPECT_FALSE(is_in_place({one}));
  const auto again = exchange(0, 1);
  EXPECT_TRUE(is_in_place({one, again}));
  const auto other = exchange(2, 1);
  EXPECT_FALSE(is_in_place({one, again, other}));
}

TEST_F(GraphTasks, ExchangesThatHaveABufferInCommonDoNotCancelInPairs) {
  // each pair comes twice, and yet the three have moved on by two places
  const auto one = exchange(0, 1);
  const auto two = exchange(1, 2);
  const auto three = exchange(0, 1);
  const auto four = exchange(1, 2);
  EXPECT_FALSE(is_in_place({one, two, three, four}));
  const auto five = exchange(0, 1);
  const auto six = exchange(1, 2);
  EXPECT_TRUE(is_in_place({one, two, three, four, five, six}));
  const auto back = exchange(1, 0);
  EXPECT_TRUE(is_in_place({one, back})) << "whichever is named first";
}

TEST_F(GraphTasks, WhatWasCopiedIsInItsPlace) {
  (void)buffers[0]->on_device(device, mesh::Use::write, {"a loop"});
  const auto held = buffers[0]->memory_on(*device);
  const auto copy = exchange(0, 1);
  EXPECT_TRUE(is_in_place({copy}));
  EXPECT_EQ(copy->n_launches(), 1U);
  EXPECT_TRUE(
      is_in_place({std::make_shared<FillTask>(mirror, buffers[0], std::vector<std::byte>{})}));
}

}  // namespace
}  // namespace op2::runtime
