// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/value_tasks.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "gpu/fake_driver.hpp"
#include "recording_device.hpp"
#include "runtime/gpu/device.hpp"
#include "runtime/loop_graph.hpp"

namespace op2::runtime {
namespace {

std::vector<std::byte> bytes_of(double value) {
  std::vector<std::byte> bytes(sizeof(value));
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

/// Two Buffers of three numbers and one of one.
class ValueTasks : public ::testing::Test {
 protected:
  ValueTasks() {
    one->reset(x.data(), 24);
    other->reset(y.data(), 24);
    single->reset(&number, 8);
  }

  [[nodiscard]] std::shared_ptr<mesh::Buffer> made(const char* what) const {
    return std::make_shared<mesh::Buffer>(coherence, what, mesh::Layout{false, 1, 8});
  }

  gpu::testing::FakeGpu fake;  // the last to go
  std::shared_ptr<mesh::Coherence> coherence = std::make_shared<mesh::Coherence>();
  std::vector<double> x = {1, 2, 3};
  std::vector<double> y = {4, 5, 6};
  double number = 7;
  std::shared_ptr<mesh::Buffer> one = made("Dat 'one'");
  std::shared_ptr<mesh::Buffer> other = made("Dat 'other'");
  std::shared_ptr<mesh::Buffer> single = made("Global 'single'");
};

TEST_F(ValueTasks, AreSetOnTheHost) {
  EXPECT_FALSE(FillTask(nullptr, one, {}).run());
  EXPECT_EQ(x, (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(one->version(), 1);
  EXPECT_FALSE(FillTask(nullptr, single, bytes_of(2.5)).run());
  EXPECT_EQ(number, 2.5);
}

TEST_F(ValueTasks, AreCopiedOnTheHost) {
  CopyTask task(nullptr, one, other);
  EXPECT_FALSE(task.run());
  EXPECT_EQ(x, y);
  EXPECT_EQ(one->version(), 1);
  EXPECT_EQ(other->version(), 0);
  EXPECT_EQ(task.recorder(), nullptr);
}

TEST_F(ValueTasks, ThatDoNotFitAreRefused) {
  EXPECT_THROW(FillTask(nullptr, one, bytes_of(2.5)), UsageError);
  EXPECT_THROW(CopyTask(nullptr, one, single), UsageError);
  EXPECT_THROW(CopyTask(nullptr, one, one), UsageError);
}

TEST_F(ValueTasks, OnADeviceAreSetAndCopiedThere) {
  const auto device = std::make_shared<testing::RecordingDevice>();
  const auto mirror = std::make_shared<DeviceMirror>(device, coherence);
  EXPECT_FALSE(FillTask(mirror, one, {}).run());  // what is overwritten is not sent there
  EXPECT_EQ(device->n_uploads, 0);
  EXPECT_EQ(one->where(), mesh::Where::device);
  EXPECT_FALSE(FillTask(mirror, single, bytes_of(2.5)).run());
  EXPECT_TRUE(CopyTask(mirror, one, other).run());
  EXPECT_EQ(device->n_uploads, 2);  // the device's way to set a number, and the source
  for (mesh::Buffer* buffer : {one.get(), single.get()}) {
    EXPECT_TRUE(buffer->on_host(mesh::Use::read, {"a test"}));
  }
  EXPECT_EQ(x, y);
  EXPECT_EQ(number, 2.5);
}

TEST_F(ValueTasks, ExchangeMemoryOrCopyWhereSomebodyHoldsIt) {
  const auto device = std::make_shared<testing::RecordingDevice>();
  const auto mirror = std::make_shared<DeviceMirror>(device, coherence);
  const auto write = [&](mesh::Buffer& of, double value) {
    static_cast<double*>(of.on_device(device, mesh::Use::write, {"loop"}))[0] = value;
  };
  write(*one, 7);
  write(*other, 8);
  ExchangeTask task(mirror, one, other);
  EXPECT_FALSE(task.run());
  EXPECT_EQ(task.n_launches(), 0U);
  EXPECT_EQ(task.exchanged().first, one.get());
  const auto held = one->memory_on(*device);
  write(*other, 9);
  EXPECT_FALSE(task.run());
  EXPECT_EQ(task.exchanged().first, nullptr);
  EXPECT_EQ(task.n_launches(), 1U);
  EXPECT_EQ(static_cast<double*>(held.get())[0], 9.0);
  one->on_host(mesh::Use::read, {"data"});
  EXPECT_EQ(x[0], 9.0);
  EXPECT_THROW(ExchangeTask(mirror, one, single), UsageError);
}

TEST_F(ValueTasks, OfNothingAreLeftAlone) {
  const auto device = std::make_shared<testing::RecordingDevice>();
  const auto mirror = std::make_shared<DeviceMirror>(device, coherence);
  const auto none = made("Dat 'none'");
  EXPECT_FALSE(FillTask(mirror, none, {}).run());
  EXPECT_EQ(device->n_allocations, 0);
}

TEST_F(ValueTasks, AreNodesOfAGraphOfCuda) {
  const auto gpu = std::make_shared<gpu::Gpu>(fake.driver(), 0);
  const auto mirror = std::make_shared<DeviceMirror>(gpu, coherence);
  const auto graph =
      ready_graph({{{}, std::make_shared<FillTask>(mirror, one, std::vector<std::byte>{})},
                   {{}, std::make_shared<FillTask>(mirror, single, bytes_of(0.5))},
                   {{0}, std::make_shared<CopyTask>(mirror, other, one)}});
  EXPECT_FALSE(graph->submit(1));
  (void)one->on_host(mesh::Use::read_write, {"a test"});
  x = {1, 2, 3};
  EXPECT_FALSE(graph->submit(1));  // what is overwritten is not sent back; it is recorded
  EXPECT_NE(graph->native(), 0U);
  EXPECT_FALSE(graph->submit(1));
  ASSERT_FALSE(fake.graphs.empty());
  std::vector<std::string> names;
  for (const auto& node : fake.graphs.begin()->second) names.push_back(node.kernel);
  EXPECT_EQ(names, (std::vector<std::string>{"memset", "memset", "memset", "memcpy"}));
  EXPECT_EQ(other->version(), 3);
  EXPECT_TRUE(other->on_host(mesh::Use::read, {"a test"}));
  EXPECT_TRUE(single->on_host(mesh::Use::read, {"a test"}));
  EXPECT_EQ(y, (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(number, 0.5);
}

}  // namespace
}  // namespace op2::runtime
