// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cuda/fake_driver.hpp"
#include "runtime/cuda/device.hpp"
#include "runtime/device_mirror.hpp"
#include "runtime/loop_graph.hpp"
#include "runtime/sequence.hpp"

namespace op2::runtime::cuda {
namespace {

/// Loops of one kernel each over one Dat, on that GPU.
class CudaSequence : public ::testing::Test {
 protected:
  using Names = std::vector<std::string>;

  CudaSequence() { buffer_->reset(x_.data(), 32); }

  [[nodiscard]] Names launched() const {
    Names names;
    for (const auto& one : fake_.launches) names.push_back(one.kernel);
    return names;
  }

  std::shared_ptr<PreparedLoop> loop(const std::string& kernel) {
    auto executable = std::make_shared<exec::Executable>();
    executable->name = kernel + "_calc";
    executable->arguments = {{"x", {DType::float64, false, true}, true, abi::Role::data, 0}};
    auto code = std::make_shared<exec::DeviceCode>();
    code->program = program_;
    code->launch.kernels = {{kernel, 0}};
    exec::LaunchStep step;
    step.kernel = 0;
    step.items = exec::Value{exec::Number{4}};
    step.arguments = {exec::MemorySlot{false, 0}};
    code->launch.steps = {{step}};
    executable->device = code;
    Binding binding;
    binding.n_elements = 4;
    binding.arguments = {buffer_};
    return std::make_shared<PreparedLoop>(executable, binding, LaunchOptions{},
                                          std::make_shared<plan::PlanCache>(), timing_, mirror_);
  }

  testing::FakeGpu fake_;
  std::shared_ptr<Gpu> gpu_ = std::make_shared<Gpu>(fake_.driver(), 0);
  std::shared_ptr<Program> program_ = gpu_->load("adt res combine");
  std::vector<double> x_ = {1, 2, 3, 4};
  std::shared_ptr<mesh::Coherence> coherence_ = std::make_shared<mesh::Coherence>();
  std::shared_ptr<mesh::Buffer> buffer_ =
      std::make_shared<mesh::Buffer>(coherence_, "Dat 'x'", mesh::Layout{false, 1, 8});
  std::shared_ptr<Timing> timing_ = std::make_shared<Timing>();
  std::shared_ptr<DeviceMirror> mirror_ = std::make_shared<DeviceMirror>(gpu_, coherence_);
};

TEST_F(CudaSequence, TheSecondRunIsRecordedAndLaterOnesReplayIt) {
  Sequence sequence({loop("adt"), loop("res"), loop("combine")});
  const Names step = {"adt", "res", "combine"};
  EXPECT_TRUE(sequence.run(1));  // values go there
  EXPECT_EQ(sequence.native(), 0U);
  EXPECT_EQ(launched(), step);
  EXPECT_FALSE(sequence.run(1));
  const std::uintptr_t native = sequence.native();
  EXPECT_NE(native, 0U);
  EXPECT_FALSE(sequence.run(2));
  EXPECT_EQ(sequence.native(), native);
  Names expected;
  for (int i = 0; i < 4; ++i) expected.insert(expected.end(), step.begin(), step.end());
  EXPECT_EQ(launched(), expected);
  EXPECT_EQ(timing_->n_calls, 12);
  EXPECT_EQ(buffer_->version(), 12);  // as if each loop had been called
}

TEST_F(CudaSequence, ManyRunsAtOnceAreOneByOneOnlyTheFirstTime) {
  Sequence sequence({loop("adt"), loop("res"), loop("combine")});
  EXPECT_TRUE(sequence.run(3));
  EXPECT_NE(sequence.native(), 0U);
  EXPECT_EQ(launched().size(), 9U);
}

TEST_F(CudaSequence, ValuesThatMovedAreFollowed) {
  fake_.n_values = 1;
  Sequence sequence({loop("adt"), loop("res"), loop("combine")});
  (void)sequence.run(2);
  const long long before = fake_.launches.back().values.at(0);
  ASSERT_EQ(before, fake_.launches.front().values.at(0));
  const std::shared_ptr<void> other = gpu_->allocate(32, "other memory");
  buffer_->adopt(gpu_, other);
  EXPECT_FALSE(sequence.run(1));
  EXPECT_EQ(fake_.launches.back().values.at(0), reinterpret_cast<long long>(other.get()));
  EXPECT_NE(fake_.launches.back().values.at(0), before);
  EXPECT_NE(sequence.native(), 0U);
}

TEST_F(CudaSequence, FewLaunchesAreLeftAlone) {
  Sequence sequence({loop("adt"), loop("res")});
  (void)sequence.run(4);
  EXPECT_EQ(sequence.native(), 0U);
  EXPECT_EQ(launched().size(), 8U);
}

TEST_F(CudaSequence, AProfileSeesEveryLoop) {
  Sequence sequence({loop("adt"), loop("res"), loop("combine")});
  (void)sequence.run(2);
  timing_->trace->start(1);
  (void)sequence.run(1);
  EXPECT_EQ(sequence.native(), 0U);
  EXPECT_EQ(launched().size(), 9U);
}

TEST_F(CudaSequence, ALaunchThatFailsEndsTheRecording) {
  Sequence sequence({loop("adt"), loop("res"), loop("combine")});
  (void)sequence.run(1);
  fake_.oversized_kernel = "res";
  EXPECT_THROW((void)sequence.run(1), ExecutionError);
  fake_.oversized_kernel.clear();
  (void)sequence.run(1);
  EXPECT_NE(sequence.native(), 0U);
  EXPECT_EQ(launched().size(), 6U);
}

TEST_F(CudaSequence, IsWhatAGraphOnADeviceSubmits) {
  const auto graph = ready_graph({{{}, loop("adt")}, {{0}, loop("res")}, {{1}, loop("combine")}});
  EXPECT_TRUE(graph->submit(1));
  EXPECT_EQ(graph->native(), 0U);
  EXPECT_FALSE(graph->submit(2));
  EXPECT_NE(graph->native(), 0U);
  const Names step = {"adt", "res", "combine"};
  Names expected;
  for (int i = 0; i < 3; ++i) expected.insert(expected.end(), step.begin(), step.end());
  EXPECT_EQ(launched(), expected);
}

TEST_F(CudaSequence, AGraphKnowsTheDeviceThatItWasMadeFor) {
  DeviceGraph graph(gpu_);
  EXPECT_EQ(graph.get_execution_space(), gpu_);
  const std::vector<LoopStep> steps = {{{}, loop("adt")}};
  EXPECT_THROW((void)graph::lowered<DeviceGraph>(nullptr, steps), InternalError);
}

}  // namespace
}  // namespace op2::runtime::cuda
