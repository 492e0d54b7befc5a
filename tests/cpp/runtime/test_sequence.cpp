// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "gpu/fake_driver.hpp"
#include "runtime/device_mirror.hpp"
#include "runtime/gpu/device.hpp"
#include "runtime/loop_graph.hpp"
#include "runtime/prepared_loop.hpp"
#include "runtime/sequence.hpp"
#include "runtime/value_tasks.hpp"

namespace op2::runtime::gpu {
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
  (void)sequence.run(1);
  EXPECT_EQ(sequence.why_not(), "");  // nothing was tried
  (void)sequence.run(3);
  EXPECT_EQ(sequence.native(), 0U);
  EXPECT_EQ(launched().size(), 8U);
  EXPECT_EQ(sequence.why_not(), "two launches cost no more one by one");
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

/// Loops that write one Buffer, which then changes places with another one.
class CudaExchange : public CudaSequence {
 protected:
  CudaExchange() {
    fake_.n_values = 1;
    second_->reset(y_.data(), 32);
    for (mesh::Buffer* one : {buffer_.get(), second_.get()}) {
      (void)one->on_device(gpu_, mesh::Use::write, {"a loop"});
    }
    first_ = address_of(*buffer_);
  }

  [[nodiscard]] long long address_of(mesh::Buffer& buffer) const {
    return reinterpret_cast<long long>(buffer.memory_on(*gpu_).get());
  }

  [[nodiscard]] std::shared_ptr<GraphTask> exchange() const {
    return std::make_shared<ExchangeTask>(mirror_, buffer_, second_);
  }

  /// Whether each launch found the Buffer where it was at first, run by run of three.
  [[nodiscard]] std::vector<bool> places() const {
    std::vector<bool> found;
    for (const auto& one : fake_.launches) found.push_back(one.values.at(0) == first_);
    return found;
  }

  std::vector<double> y_ = {5, 6, 7, 8};
  std::shared_ptr<mesh::Buffer> second_ =
      std::make_shared<mesh::Buffer>(coherence_, "Dat 'y'", mesh::Layout{false, 1, 8});
  long long first_ = 0;
};

TEST_F(CudaExchange, TwoRecordingsAreUsedByTurns) {
  Sequence sequence({loop("adt"), loop("res"), loop("combine"), exchange()});
  std::vector<std::uintptr_t> natives;
  for (int i = 0; i < 3; ++i) {
    (void)sequence.run(i == 1 ? 2 : 1);
    natives.push_back(sequence.native());
  }
  EXPECT_NE(natives[1], 0U);
  EXPECT_NE(natives[2], 0U);
  EXPECT_NE(natives[1], natives[2]);  // of the third and of the fourth run
  std::vector<bool> expected;
  for (int run = 0; run < 4; ++run) expected.insert(expected.end(), 3, run % 2 == 0);
  EXPECT_EQ(places(), expected);
  EXPECT_EQ(address_of(*buffer_), first_);
  EXPECT_EQ(timing_->n_calls, 12);
}

TEST_F(CudaExchange, OneIsEnoughWhereAllIsInItsPlaceAgain) {
  Sequence sequence(
      {loop("adt"), exchange(), loop("res"), loop("adt"), exchange(), loop("combine")});
  (void)sequence.run(2);
  const std::uintptr_t native = sequence.native();
  EXPECT_NE(native, 0U);
  (void)sequence.run(3);
  EXPECT_EQ(sequence.native(), native);
  std::vector<bool> expected;
  for (int run = 0; run < 5; ++run) {
    expected.insert(expected.end(), {true, false, false, true});
  }
  EXPECT_EQ(places(), expected);
}

TEST_F(CudaExchange, ALoopThatIsThereTwiceIsNotRecorded) {
  const auto twice = loop("adt");
  Sequence sequence({twice, exchange(), twice, loop("res"), loop("combine")});
  (void)sequence.run(4);
  EXPECT_EQ(sequence.native(), 0U);
  std::vector<bool> expected;
  for (int run = 0; run < 4; ++run) {
    const bool is_first = run % 2 == 0;
    expected.insert(expected.end(), {is_first, !is_first, !is_first, !is_first});
  }
  EXPECT_EQ(places(), expected);
}

/// A launch by itself takes 10 units of time, a replay as many as are asked for.
class CudaTrial : public CudaSequence {
 protected:
  [[nodiscard]] Sequence::Clock clock(std::int64_t as_one) {
    return [this, as_one] {
      const auto n_alone = static_cast<std::int64_t>(fake_.launches.size()) - 3 * fake_.n_replays;
      return 10 * n_alone + as_one * fake_.n_replays;
    };
  }

  [[nodiscard]] Sequence sequence(std::int64_t as_one) {
    return Sequence({loop("adt"), loop("res"), loop("combine")}, {}, clock(as_one));
  }
};

TEST_F(CudaTrial, BothWaysAreMeasuredByTurnsAndTheFasterOneIsKept) {
  Sequence loops = sequence(25);
  (void)loops.run(1);
  const int n_waits = fake_.n_waits;
  for (int i = 0; i < 2 * ReplayTrial::n_each; ++i) {
    EXPECT_EQ(loops.trial().kept(), Way::undecided);
    (void)loops.run(1);
    EXPECT_EQ(fake_.n_replays, i / 2 + 1);
  }
  EXPECT_GT(fake_.n_waits, n_waits);
  const ReplayTrial trial = loops.trial();
  EXPECT_EQ(trial.kept(), Way::as_one);
  EXPECT_EQ(trial.arm(Way::alone).shortest, 30);
  EXPECT_EQ(trial.arm(Way::as_one).shortest, 25);
  EXPECT_FALSE(trial.has_branches());
  const int n_waits_then = fake_.n_waits;
  (void)loops.run(4);
  EXPECT_EQ(fake_.n_replays, ReplayTrial::n_each + 4);
  EXPECT_EQ(fake_.n_waits, n_waits_then);  // nothing is waited for any more
  EXPECT_NE(loops.native(), 0U);
}

TEST_F(CudaTrial, AReplayThatDoesNotPayIsGivenUp) {
  Sequence loops = sequence(31);
  (void)loops.run(20);
  EXPECT_EQ(loops.trial().kept(), Way::alone);
  EXPECT_EQ(fake_.n_replays,
            3 * ReplayTrial::n_each);  // there were enough to measure three at once
  EXPECT_EQ(loops.native(), 0U);
  (void)loops.run(5);
  EXPECT_EQ(fake_.n_replays, 3 * ReplayTrial::n_each);
  EXPECT_EQ(fake_.launches.size(), 3U * 25U);
  EXPECT_EQ(buffer_->version(), 3 * 25);
  EXPECT_EQ(timing_->n_calls, 3 * 25);
}

TEST_F(CudaTrial, WhatAnotherProcessFoundIsNotMeasuredAgain) {
  Sequence fast = sequence(25);
  fast.learn({{Way::as_one, 25}, {Way::alone, 30}});
  EXPECT_EQ(fast.trial().kept(), Way::as_one);
  (void)fast.run(1);
  const int n_waits = fake_.n_waits;
  (void)fast.run(5);
  EXPECT_EQ(fake_.n_replays, 5);
  EXPECT_EQ(fake_.n_waits, n_waits);
  Sequence slow = sequence(31);
  slow.learn({{Way::as_one, 31}, {Way::alone, 30}});
  (void)slow.run(5);
  EXPECT_EQ(fake_.n_replays, 5);
}

TEST_F(CudaTrial, ManyAreMeasuredAtOnceWhereManyAreAskedFor) {
  Sequence loops = sequence(25);
  (void)loops.run(1);
  const int n_waits = fake_.n_waits;
  (void)loops.run(4 * 2 * ReplayTrial::n_each);
  EXPECT_EQ(fake_.n_waits - n_waits, 2 * 2 * ReplayTrial::n_each);  // before and after each
  EXPECT_EQ(fake_.n_replays, 4 * ReplayTrial::n_each);
  EXPECT_EQ(loops.trial().arm(Way::as_one).shortest, 25);
  EXPECT_EQ(loops.trial().arm(Way::alone).shortest, 30);
}

/// What eight runs that are one take, and what one takes.
class CudaSeveral : public CudaSequence {
 protected:
  [[nodiscard]] Sequence sequence(std::int64_t several, std::int64_t as_one) {
    const auto now = [this, several, as_one] {
      std::int64_t time = 0;
      std::size_t n_replayed = 0;
      for (const std::size_t n : fake_.replayed) {
        time += n > 3 ? several : as_one;
        n_replayed += n;
      }
      return time + 10 * static_cast<std::int64_t>(fake_.launches.size() - n_replayed);
    };
    return Sequence({loop("adt"), loop("res"), loop("combine")}, {}, now);
  }
};

TEST_F(CudaSeveral, RunsAreOneWhereThatIsFaster) {
  Sequence loops = sequence(160, 25);
  (void)loops.run(1 + 2 * ReplayTrial::n_each);
  EXPECT_EQ(loops.trial().kept(), Way::as_one);
  (void)loops.run(3 * Sequence::n_several);
  EXPECT_EQ(loops.trial().arm(Way::several).shortest, 20);
  EXPECT_EQ(loops.trial().kept(), Way::several);
  const int n_replays = fake_.n_replays;
  const int n_waits = fake_.n_waits;
  const std::size_t n_launches = fake_.launches.size();
  (void)loops.run(2 * Sequence::n_several + 3);
  EXPECT_EQ(fake_.n_replays, n_replays + 2 + 3);
  EXPECT_EQ(fake_.n_waits, n_waits);
  EXPECT_EQ(fake_.launches.size(), n_launches + 3 * (2 * Sequence::n_several + 3));
  EXPECT_EQ(buffer_->version(), static_cast<std::int64_t>(fake_.launches.size()));
}

TEST_F(CudaSeveral, RunsAreLeftApartWhereThatIsFaster) {
  Sequence loops = sequence(208, 25);
  (void)loops.run(1 + 2 * ReplayTrial::n_each);
  (void)loops.run(3 * Sequence::n_several);
  EXPECT_EQ(loops.trial().arm(Way::several).shortest, 26);
  const int n_replays = fake_.n_replays;
  (void)loops.run(Sequence::n_several);
  EXPECT_EQ(loops.trial().kept(), Way::as_one);
  EXPECT_EQ(fake_.n_replays, n_replays + Sequence::n_several);
  EXPECT_EQ(fake_.graphs.size(), 1U);
}

TEST_F(CudaSeveral, RunsFollowValuesThatMove) {
  fake_.n_values = 1;
  Sequence loops = sequence(160, 25);
  (void)loops.run(1 + 2 * ReplayTrial::n_each + 3 * Sequence::n_several);
  const std::shared_ptr<void> other = gpu_->allocate(32, "other memory");
  buffer_->adopt(gpu_, other);
  (void)loops.run(Sequence::n_several);
  EXPECT_EQ(fake_.replayed.back(), 3U * Sequence::n_several);
  EXPECT_EQ(fake_.launches.back().values.at(0), reinterpret_cast<long long>(other.get()));
}

/// While it is there another thread records on that GPU.
class OtherRecorder {
 public:
  explicit OtherRecorder(Gpu& gpu)
      : thread_([this, &gpu] {
          EXPECT_TRUE(gpu.start_recording());
          started_.set_value();
          end_.get_future().wait();
          (void)gpu.stop_recording();
        }) {
    started_.get_future().wait();
  }
  ~OtherRecorder() {
    end_.set_value();
    thread_.join();
  }
  OtherRecorder(const OtherRecorder&) = delete;
  OtherRecorder& operator=(const OtherRecorder&) = delete;

 private:
  std::promise<void> started_;
  std::promise<void> end_;
  std::thread thread_;
};

TEST_F(CudaSequence, IsRecordedLaterIfAnotherThreadRecords) {
  Sequence sequence({loop("adt"), loop("res"), loop("combine")});
  (void)sequence.run(1);
  {
    const OtherRecorder other(*gpu_);
    (void)sequence.run(1);
    EXPECT_EQ(sequence.native(), 0U);
    EXPECT_EQ(sequence.why_not(), "its loops could not be recorded; the next run tries it again");
  }
  EXPECT_EQ(launched().size(), 6U);
  (void)sequence.run(1);
  EXPECT_NE(sequence.native(), 0U);
  EXPECT_EQ(sequence.why_not(), "");
}

TEST_F(CudaSequence, IsNotRecordedForEverIfThatFails) {
  fake_.refuses_graphs = invalid_device;
  Sequence sequence({loop("adt"), loop("res"), loop("combine")});
  for (int i = 0; i < 1 + most_recordings; ++i) (void)sequence.run(1);
  EXPECT_EQ(sequence.why_not(), "its loops could not be recorded; the next run tries it again");
  (void)sequence.run(1);
  EXPECT_EQ(sequence.why_not(),
            "its loops could not be recorded 8 times, which is not recorded again");
}

TEST_F(CudaSequence, IsNotRecordedByAnOldDriver) {
  fake_.has_graphs = false;
  gpu_ = std::make_shared<Gpu>(fake_.driver(), 0);
  program_ = gpu_->load("adt res combine");
  mirror_ = std::make_shared<DeviceMirror>(gpu_, coherence_);
  Sequence sequence({loop("adt"), loop("res"), loop("combine")});
  (void)sequence.run(2);
  EXPECT_EQ(launched().size(), 6U);
  EXPECT_EQ(sequence.why_not(), "the device's driver records no launches");
}

TEST_F(CudaSeveral, RunsThatCannotBeOneDoNotEndRecordings) {
  fake_.n_values = 1;
  Sequence loops = sequence(160, 25);
  (void)loops.run(1 + 2 * ReplayTrial::n_each);
  {
    const OtherRecorder other(*gpu_);
    (void)loops.run(3 * Sequence::n_several);
  }
  EXPECT_EQ(loops.trial().arm(Way::several).n, 0);
  EXPECT_EQ(loops.why_not(), "");
  buffer_->adopt(gpu_, gpu_->allocate(32, "other memory"));
  (void)loops.run(1);
  EXPECT_EQ(loops.why_not(), "");
  EXPECT_NE(loops.native(), 0U);
}

TEST_F(CudaTrial, ARecordingThatIsMadeAnewIsNotMeasuredAnew) {
  Sequence loops = sequence(5);
  (void)loops.run(10);
  buffer_->adopt(gpu_, gpu_->allocate(32, "other memory"));
  const int n_waits = fake_.n_waits;
  (void)loops.run(2);
  EXPECT_EQ(fake_.n_waits, n_waits);
  EXPECT_NE(loops.native(), 0U);
}

TEST_F(CudaTrial, WithoutARecordingNothingIsMeasured) {
  fake_.refuses_graphs = invalid_device;
  Sequence loops = sequence(5);
  (void)loops.run(9);
  EXPECT_EQ(loops.trial().kept(), Way::undecided);
  EXPECT_EQ(loops.trial().arm(Way::as_one).n, 0);
}

/// A diamond: the second and the third wait for the first, the last for both.
class CudaBranches : public CudaTrial {
 protected:
  using After = std::vector<std::vector<std::size_t>>;

  CudaBranches() { program_ = gpu_->load("adt left right combine op2_waits"); }

  /// A replay in which two start at once takes another time.
  [[nodiscard]] Sequence diamond(std::int64_t as_one, std::int64_t side_by_side) {
    const auto now = [this, as_one, side_by_side] {
      std::int64_t time =
          10 * (static_cast<std::int64_t>(fake_.launches.size()) - 4 * fake_.n_replays);
      for (std::size_t i = 0; i + 4 <= fake_.launches.size(); ++i) {
        if (fake_.launches[i].kernel != "adt" || fake_.launches[i + 1].after.empty()) continue;
        time += fake_.launches[i + 2].after == std::vector<std::size_t>{0} ? side_by_side : as_one;
      }
      return time;
    };
    return Sequence({loop("adt"), loop("left"), loop("right"), loop("combine")},
                    {{}, {0}, {0}, {1, 2}}, now);
  }

  [[nodiscard]] After last_edges() const {
    After found;
    for (std::size_t i = fake_.launches.size() - 4; i < fake_.launches.size(); ++i) {
      found.push_back(fake_.launches[i].after);
    }
    return found;
  }
};

TEST_F(CudaBranches, AreRecordedWithoutAnOrderAmongThem) {
  Sequence loops = diamond(30, 20);
  (void)loops.run(1 + 3 * ReplayTrial::n_each);
  const ReplayTrial trial = loops.trial();
  EXPECT_TRUE(trial.has_branches());
  EXPECT_EQ(trial.arm(Way::alone).shortest, 40);
  EXPECT_EQ(trial.arm(Way::as_one).shortest, 30);
  EXPECT_EQ(trial.arm(Way::side_by_side).shortest, 20);
  EXPECT_EQ(trial.kept(), Way::side_by_side);
  (void)loops.run(1);
  EXPECT_EQ(last_edges(), (After{{}, {0}, {0}, {1, 2}}));
  EXPECT_NE(loops.native(), 0U);
  // who waits for another than the one enqueued before it starts when that has ended
  const std::size_t last = fake_.launches.size() - 4;
  EXPECT_TRUE(fake_.launches[last + 1].is_early);
  EXPECT_FALSE(fake_.launches[last + 2].is_early);
  EXPECT_FALSE(fake_.launches[last + 3].is_early);
}

TEST_F(CudaBranches, AreGivenUpWhereOneOrderIsFaster) {
  Sequence loops = diamond(20, 30);
  (void)loops.run(1 + 3 * ReplayTrial::n_each);
  (void)loops.run(1);
  EXPECT_EQ(loops.trial().kept(), Way::as_one);
  EXPECT_EQ(last_edges(), (After{{}, {0}, {1}, {2}}));
}

TEST_F(CudaBranches, AreFollowedWhenValuesMove) {
  Sequence loops = diamond(30, 20);
  (void)loops.run(2 + 3 * ReplayTrial::n_each);
  buffer_->adopt(gpu_, gpu_->allocate(32, "other memory"));
  const int n_replays = fake_.n_replays;
  (void)loops.run(1);
  EXPECT_EQ(fake_.n_replays, n_replays + 1);
  EXPECT_EQ(last_edges(), (After{{}, {0}, {0}, {1, 2}}));
}

TEST_F(CudaBranches, ThatTheDriverRefusesAreOneOrder) {
  fake_.refuses_groups = invalid_device;
  Sequence loops = diamond(30, 20);
  (void)loops.run(1 + 2 * ReplayTrial::n_each);
  (void)loops.run(1);
  EXPECT_FALSE(loops.trial().has_branches());
  EXPECT_EQ(loops.trial().kept(), Way::as_one);
  EXPECT_EQ(last_edges(), (After{{}, {0}, {1}, {2}}));
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
}  // namespace op2::runtime::gpu
