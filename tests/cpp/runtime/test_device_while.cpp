// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/device_while.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/fake_driver.hpp"
#include "recording_device.hpp"
#include "runtime/gpu/device.hpp"
#include "runtime/prepared_loop.hpp"
#include "runtime/queue_task.hpp"
#include "runtime/value_tasks.hpp"

namespace op2::runtime {
namespace {

/// A number that each pass halves, on a GPU of the imagination.
class DeviceWhileTest : public ::testing::Test {
 protected:
  DeviceWhileTest() {
    left_->reset(&left_value_, 8);
    seen_->reset(&seen_value_, 8);
    fake_.effects["half"] = [this] { *on_gpu(*left_) /= 2; };
  }

  [[nodiscard]] double* on_gpu(mesh::Buffer& buffer) const {
    return static_cast<double*>(buffer.memory_on(*gpu_).get());
  }

  [[nodiscard]] std::shared_ptr<mesh::Buffer> made(const char* what) const {
    return std::make_shared<mesh::Buffer>(coherence_, what, mesh::Layout{false, 1, 8});
  }

  LoopKernel loop(const std::string& kernel) {
    auto executable = std::make_shared<exec::Executable>();
    executable->name = kernel + "_loop";
    executable->arguments = {{"x", {DType::float64, false, true}, true, abi::Role::data, 0}};
    auto code = std::make_shared<exec::DeviceCode>();
    code->program = program_;
    code->launch.kernels = {{kernel, 0}};
    exec::LaunchStep step;
    step.kernel = 0;
    step.items = exec::Value{exec::Number{1}};
    step.arguments = {exec::MemorySlot{false, 0}};
    code->launch.steps = {{step}};
    executable->device = code;
    Binding binding;
    binding.n_elements = 1;
    binding.arguments = {left_};
    return std::make_shared<PreparedLoop>(executable, binding, LaunchOptions{},
                                          std::make_shared<plan::PlanCache>(), timing_, mirror_);
  }

  /// left > 1: seen = left, then it is halved.
  DeviceWhile passes(bool or_equal = false) {
    const std::vector<LoopStep> steps = {{{}, std::make_shared<CopyTask>(mirror_, seen_, left_)},
                                         {{0}, loop("half")}};
    return DeviceWhile(steps, {{left_}, {nullptr, DType::float64, 1.0}, or_equal},
                       [this] { return now_ += 100; });
  }

  double value(mesh::Buffer& buffer) {
    (void)buffer.on_host(mesh::Use::read, {"a test"});
    return *static_cast<double*>(buffer.data());
  }

  void set(double value) {
    (void)left_->on_host(mesh::Use::write, {"a test"});
    left_value_ = value;
  }

  std::int64_t now_ = 0;
  gpu::testing::FakeGpu fake_;
  std::shared_ptr<gpu::Gpu> gpu_ = std::make_shared<gpu::Gpu>(fake_.driver(), 0);
  std::shared_ptr<Program> program_ = gpu_->load("half double");
  std::shared_ptr<mesh::Coherence> coherence_ = std::make_shared<mesh::Coherence>();
  std::shared_ptr<DeviceMirror> mirror_ = std::make_shared<DeviceMirror>(gpu_, coherence_);
  std::shared_ptr<Timing> timing_ = std::make_shared<Timing>();
  double left_value_ = 40;
  double seen_value_ = 99;
  std::shared_ptr<mesh::Buffer> left_ = made("Global 'left'");
  std::shared_ptr<mesh::Buffer> seen_ = made("Global 'seen'");
};

TEST_F(DeviceWhileTest, RepeatsAsLongAsTheConditionHolds) {
  DeviceWhile loop = passes();
  ASSERT_TRUE(loop.is_next());
  const std::optional<bool> ran = loop.run(0, 100);
  ASSERT_TRUE(ran.has_value()) << loop.why_not();
  EXPECT_TRUE(*ran);  // values went there
  EXPECT_EQ(value(*left_), 0.625);
  EXPECT_EQ(value(*seen_), 1.25);
  EXPECT_EQ(fake_.n_replays, 1);
  EXPECT_NE(loop.native(), 0U);
  EXPECT_EQ(timing_->n_calls, 6);
}

TEST_F(DeviceWhileTest, RunsNoPassWhereTheConditionDoesNotHold) {
  set(0.5);
  DeviceWhile loop = passes();
  ASSERT_TRUE(loop.run(0, 100).has_value());
  EXPECT_EQ(value(*left_), 0.5);
  EXPECT_EQ(value(*seen_), 99);  // though a pass would overwrite it
}

TEST_F(DeviceWhileTest, AsksWhetherNumbersAreEqualWhereThatCounts) {
  set(4);
  DeviceWhile strict = passes();
  ASSERT_TRUE(strict.run(0, 100).has_value());
  EXPECT_EQ(value(*left_), 1);
  DeviceWhile also = passes(true);
  ASSERT_TRUE(also.run(0, 100).has_value());
  EXPECT_EQ(value(*left_), 0.5);
}

TEST_F(DeviceWhileTest, EndsAtItsBoundAndCountsPassesThatAreOver) {
  DeviceWhile loop = passes();
  ASSERT_TRUE(loop.run(1, 3).has_value());
  EXPECT_EQ(value(*left_), 10);
  ASSERT_TRUE(loop.run(0, 3).has_value());
  EXPECT_EQ(value(*left_), 1.25);
  EXPECT_EQ(fake_.n_instantiated, 1);  // it was not recorded anew
}

TEST_F(DeviceWhileTest, FollowsValuesThatMoved) {
  DeviceWhile loop = passes();
  ASSERT_TRUE(loop.run(0, 100).has_value());
  const std::shared_ptr<void> other = gpu_->allocate(8, "other memory");
  *static_cast<double*>(other.get()) = 3;
  left_->adopt(gpu_, other);
  ASSERT_TRUE(loop.run(0, 100).has_value());
  EXPECT_EQ(value(*left_), 0.75);
  EXPECT_EQ(fake_.n_instantiated, 2);
}

TEST_F(DeviceWhileTest, ComparesTwoNumbersOfTheDevice) {
  const auto right = made("Global 'right'");
  double bound = 5;
  right->reset(&bound, 8);
  DeviceWhile loop({{{}, this->loop("half")}}, {{right}, {left_}, false});
  ASSERT_TRUE(loop.run(0, 100).has_value());
  EXPECT_EQ(value(*left_), 40);  // right > left does not hold
  DeviceWhile other({{{}, this->loop("half")}}, {{left_}, {right}, false});
  ASSERT_TRUE(other.run(0, 100).has_value());
  EXPECT_EQ(value(*left_), 5);
}

TEST_F(DeviceWhileTest, ReadsNumbersOfOtherTypes) {
  float single = 3;
  std::int32_t negative = -2;
  const auto one = std::make_shared<mesh::Buffer>(coherence_, "f", mesh::Layout{false, 1, 4});
  const auto two = std::make_shared<mesh::Buffer>(coherence_, "i", mesh::Layout{false, 1, 4});
  one->reset(&single, 4);
  two->reset(&negative, 4);
  DeviceWhile loop({{{}, this->loop("half")}}, {{one, DType::float32}, {two, DType::int32}, false});
  ASSERT_TRUE(loop.run(0, 3).has_value());
  EXPECT_EQ(value(*left_), 5);
}

TEST_F(DeviceWhileTest, WhatChangesPlacesIsNotRepeated) {
  const std::vector<LoopStep> steps = {
      {{}, loop("half")}, {{0}, std::make_shared<ExchangeTask>(mirror_, seen_, left_)}};
  DeviceWhile passes(steps, {{left_}, {nullptr, DType::float64, 1.0}, false});
  EXPECT_EQ(passes.why_not(), "buffers change places in it");
  EXPECT_FALSE(passes.run(0, 3).has_value());
  EXPECT_EQ(value(*left_), 40);
}

TEST_F(DeviceWhileTest, NothingIsLeftBehind) {
  const int n_streams = fake_.n_streams;
  const std::size_t n_used = fake_.n_used;
  {
    DeviceWhile loop = passes();
    ASSERT_TRUE(loop.run(0, 100).has_value());
    EXPECT_EQ(fake_.n_graphs, 1);
  }
  EXPECT_FALSE(fake_.is_used_after_it_went);
  EXPECT_EQ(fake_.n_graphs, 0);
  EXPECT_EQ(fake_.graphs.size(), 0U);
  EXPECT_EQ(fake_.n_streams, n_streams);
  EXPECT_EQ(fake_.n_modules, 1);
  EXPECT_EQ(fake_.n_used, n_used + 16);  // the two numbers
  EXPECT_TRUE(fake_.current.empty());
}

class Refusal : public DeviceWhileTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(Refusal, OfTheDriverLeavesItToTheHost) {
  fake_.refuses = GetParam();
  const int n_streams = fake_.n_streams;
  DeviceWhile loop = passes();
  EXPECT_FALSE(loop.run(0, 100).has_value());
  EXPECT_FALSE(loop.is_next());
  EXPECT_NE(loop.why_not().find("CUDA_ERROR_OTHER"), std::string::npos) << loop.why_not();
  EXPECT_EQ(loop.native(), 0U);
  EXPECT_EQ(value(*left_), 40);
  EXPECT_EQ(value(*seen_), 99);
  EXPECT_EQ(fake_.n_graphs, 0);
  EXPECT_EQ(fake_.n_streams, n_streams);
  EXPECT_EQ(fake_.n_modules, 1);
  gpu_->launch(program_->kernel("half"), Grid{1, 1}, {}, "half");  // it is no capture any more
  EXPECT_EQ(*on_gpu(*left_), 20);
}

INSTANTIATE_TEST_SUITE_P(Driver, Refusal,
                         ::testing::Values("graph_create", "graph_get_nodes", "graph_add_node",
                                           "graph_conditional_handle_create",
                                           "stream_begin_capture_to_graph"));

TEST_F(DeviceWhileTest, WhatTheDriverDoesNotInstantiateIsLeftToTheHost) {
  fake_.refuses_graphs = 801;
  DeviceWhile loop = passes();
  EXPECT_FALSE(loop.run(0, 100).has_value());
  EXPECT_NE(loop.why_not().find("take the graph"), std::string::npos);
  EXPECT_EQ(fake_.n_graphs, 0);
}

TEST_F(DeviceWhileTest, CodeThatTheDriverDoesNotTakeIsNoError) {
  DeviceWhile loop = passes();
  fake_.refuses_programs = gpu::unsupported_ptx_version;
  EXPECT_FALSE(loop.run(0, 100).has_value());
  EXPECT_NE(loop.why_not().find("does not take the compiled loop"), std::string::npos);
}

TEST_F(DeviceWhileTest, AnOldDriverIsNamed) {
  fake_.version = 12030;
  DeviceWhile loop = passes();
  EXPECT_FALSE(loop.run(0, 100).has_value());
  EXPECT_EQ(loop.why_not(), "the driver is of CUDA 12.3; graphs repeat themselves from 12.4 on");
}

TEST_F(DeviceWhileTest, ALaunchThatFailsEndsTheRecording) {
  fake_.oversized_kernel = "half";
  DeviceWhile loop = passes();
  EXPECT_FALSE(loop.run(0, 100).has_value());
  EXPECT_NE(loop.why_not().find("half_loop"), std::string::npos);
  EXPECT_EQ(fake_.n_graphs, 0);
}

TEST_F(DeviceWhileTest, OtherDevicesLeaveItToTheHost) {
  const auto device = std::make_shared<testing::RecordingDevice>();
  const auto mirror = std::make_shared<DeviceMirror>(device, coherence_);
  DeviceWhile loop({{{}, std::make_shared<FillTask>(mirror, left_, std::vector<std::byte>{})}},
                   {{left_}, {}, false});
  EXPECT_TRUE(loop.is_next());  // nobody has asked it yet
  EXPECT_FALSE(loop.run(0, 100).has_value());
  EXPECT_EQ(loop.why_not(), "this device cannot repeat launches by itself");
  EXPECT_FALSE(loop.is_next());
}

TEST_F(DeviceWhileTest, WhatTheHostDoesAnywayIsKnownBefore) {
  const auto fill = std::make_shared<FillTask>(nullptr, left_, std::vector<std::byte>{});
  EXPECT_EQ(DeviceWhile({{{}, fill}}, {{left_}, {}, false}).why_not(), "loops run on the host");
  EXPECT_EQ(DeviceWhile({}, {{left_}, {}, false}).why_not(), "there is nothing to repeat");
  EXPECT_EQ(DeviceWhile({{{}, loop("half")}}, {{left_, DType::int64}, {}, false}).why_not(),
            "the host compares numbers of type int64");
  DeviceWhile long_one = passes();
  EXPECT_FALSE(long_one.run(0, std::int64_t{1} << 31).has_value());
}

TEST_F(DeviceWhileTest, AProfileIsLeftToTheHost) {
  DeviceWhile loop = passes();
  timing_->trace->start(1);
  EXPECT_FALSE(loop.is_next());
}

TEST_F(DeviceWhileTest, SaysHowThingsStandWhileItIsRecorded) {
  std::unique_ptr<DeviceWhile> asked;
  std::vector<std::future<void>> answers;
  const auto ask = [&](std::optional<std::uintptr_t>, const std::vector<std::uintptr_t>&) {
    answers.push_back(std::async(std::launch::async, [&] {
      (void)asked->trial();
      (void)asked->why_not();
      (void)asked->native();
      (void)asked->is_next();
      asked->note_host(1, 1);
    }));
    EXPECT_EQ(answers.back().wait_for(std::chrono::seconds(5)), std::future_status::ready);
  };
  const auto call = std::make_shared<QueueTask>(mirror_, "call", QueueUses{{left_, false}}, ask);
  const std::vector<LoopStep> steps = {{{}, call}, {{0}, loop("half")}};
  asked = std::make_unique<DeviceWhile>(
      steps, WhileCondition{{left_}, {nullptr, DType::float64, 1.0}, false});
  ASSERT_TRUE(asked->run(0, 100).has_value()) << asked->why_not();
  EXPECT_EQ(answers.size(), 1U);
  EXPECT_EQ(value(*left_), 0.625);
  EXPECT_NE(asked->native(), 0U);
}

TEST_F(DeviceWhileTest, WhoIsFasterGoesOn) {
  DeviceWhile loop = passes();
  for (int i = 0; i < WhileArm::n_each; ++i) {
    set(40);
    ASSERT_TRUE(loop.is_next());
    (void)loop.run(0, 100);
    ASSERT_FALSE(loop.is_next());
    loop.note_host(60, 6);  // 10 a pass
  }
  const Trial trial = loop.trial();
  EXPECT_EQ(trial.arm(WhileArm::by_device).shortest, 100 / 6);
  EXPECT_EQ(trial.arm(WhileArm::by_host).shortest, 10);
  EXPECT_FALSE(loop.is_next());
  DeviceWhile slower = passes();
  for (int i = 0; i < WhileArm::n_each; ++i) {
    set(40);
    (void)slower.run(0, 100);
    slower.note_host(600, 6);
  }
  EXPECT_TRUE(slower.is_next());
  const int n_waits = fake_.n_waits;
  (void)slower.run(0, 100);
  EXPECT_EQ(fake_.n_waits, n_waits);  // it is not measured any more
}

}  // namespace
}  // namespace op2::runtime
