// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/host_sequence.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../base/message_of.hpp"
#include "base/error.hpp"
#include "mesh/buffer.hpp"
#include "runtime/host/team.hpp"
#include "runtime/value_tasks.hpp"

namespace op2::runtime {
namespace {

constexpr int n_values = 64;
using Values = std::vector<std::int64_t>;

std::barrier<>* all_threads = nullptr;  // of the team that is open

/// Threads of this file take the place of OpenMP's.
void open_team(int n_threads, void (*work)(const op2_team_v1* team, void* given), void* given) {
  std::barrier all(n_threads);
  all_threads = &all;
  const auto of_thread = [&](int thread) {
    const op2_team_v1 team{thread, n_threads, [] { all_threads->arrive_and_wait(); }};
    work(&team, given);
  };
  std::vector<std::thread> threads;
  for (int thread = 1; thread < n_threads; ++thread) threads.emplace_back(of_thread, thread);
  of_thread(0);
  for (std::thread& thread : threads) thread.join();
}

/// y[i] = 3 * y[i] + x[n - 1 - i]: a team that does not wait between two of them gets it wrong.
class Loop final : public GraphTask, public TeamLoop {
 public:
  Loop(Values& y, const Values& x) : y_(&y), x_(&x) {
    context_.error = error_;
    context_.n_threads = 3;
  }

  bool is_alone = false;
  bool fails = false;
  int n_shared = 0;  // runs as a part of a team
  int n_own = 0;     // runs in a region of its own
  int n_alone = 0;
  int n_noted = 0;

  // a task
  [[nodiscard]] std::shared_ptr<Device> device() const override { return nullptr; }
  [[nodiscard]] const std::vector<mesh::BufferUse>& uses() const override { return uses_; }
  bool run() override {
    const std::unique_lock held = lock();
    (void)make_ready_for_team();
    check(launch(context_));
    return false;
  }
  [[nodiscard]] Device* recorder() override { return nullptr; }
  [[nodiscard]] std::size_t n_launches() const override { return 0; }
  bool make_ready(std::vector<std::uintptr_t>&) override { return false; }
  void launch_ready() override {}
  void count_replays(std::int64_t) override {}
  [[nodiscard]] TeamLoop* team_loop() override { return this; }

  // in a team
  [[nodiscard]] bool opens_team() const override { return true; }
  [[nodiscard]] std::unique_lock<std::mutex> lock() override { return std::unique_lock(mutex_); }
  bool make_ready_for_team() override {
    error_[0] = 0;
    context_.flags = is_alone ? OP2_ONE_THREAD : 0;
    return false;
  }
  [[nodiscard]] const op2_context_v1& context() const override { return context_; }
  int launch(const op2_context_v1& context) override {
    if (context.flags == OP2_IN_TEAM) {
      const auto& team = *static_cast<const op2_team_v1*>(context.parameters);
      if (team.thread == 0) ++n_shared;
      compute(n_values * team.thread / team.n_threads,
              n_values * (team.thread + 1) / team.n_threads);
      team.wait();
      return 0;
    }
    ++(context.flags == OP2_ONE_THREAD ? n_alone : n_own);
    compute(0, n_values);
    return 0;
  }
  void note_launch(std::int64_t, bool) override { ++n_noted; }
  [[nodiscard]] bool has_failed() const override { return error_[0] != 0; }
  void check(int) const override {
    if (has_failed()) throw ExecutionError("a check failed");
  }

 private:
  void compute(int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      (*y_)[at] = (3 * (*y_)[at] + (*x_)[n_values - 1 - at]) % 1'000'003;
    }
    if (fails && begin == 0) error_[0] = 5;
  }

  Values* y_;
  const Values* x_;
  std::vector<mesh::BufferUse> uses_;
  std::mutex mutex_;
  op2_context_v1 context_{};
  long error_[4] = {0, 0, 0, 0};
};

class HostSequenceTest : public ::testing::Test {
 protected:
  using Tasks = std::vector<std::shared_ptr<GraphTask>>;

  HostSequenceTest() {
    open_teams_by(open_team);
    start();
  }

  void start() {
    for (std::size_t i = 0; i < n_values; ++i) {
      x[i] = static_cast<std::int64_t>(i);
      y[i] = 1;
    }
  }

  std::shared_ptr<Loop> loop(bool is_forth) {
    return is_forth ? std::make_shared<Loop>(y, x) : std::make_shared<Loop>(x, y);
  }

  std::shared_ptr<GraphTask> fill() {
    return std::make_shared<FillTask>(nullptr, buffer, std::vector<std::byte>{});
  }

  /// What both are after @p n runs of @p work, one task after the other.
  std::pair<Values, Values> expected(const std::vector<std::function<void()>>& work, int n) {
    start();
    for (int i = 0; i < n; ++i) {
      for (const auto& one : work) one();
    }
    auto found = std::pair{x, y};
    start();
    return found;
  }

  void forth() { apply(y, x); }
  void back() { apply(x, y); }
  static void apply(Values& to, const Values& from) {
    for (std::size_t i = 0; i < n_values; ++i) {
      to[i] = (3 * to[i] + from[n_values - 1 - i]) % 1'000'003;
    }
  }

  /// Two clocks: loops in regions of their own take so many nanoseconds a run, or those in one.
  HostSequence::Clock clock(std::int64_t own, std::int64_t shared) {
    return [this, own, shared] {
      for (const Loop* one : watched) {
        now += own * (one->n_own - n_own_seen) + shared * (one->n_shared - n_shared_seen);
        n_own_seen = one->n_own;
        n_shared_seen = one->n_shared;
      }
      return now;
    };
  }

  Values x = Values(n_values);
  Values y = Values(n_values);
  std::shared_ptr<mesh::Buffer> buffer =
      std::make_shared<mesh::Buffer>(y.data(), std::int64_t{8} * n_values);
  std::vector<const Loop*> watched;
  std::int64_t now = 0;
  int n_own_seen = 0;
  int n_shared_seen = 0;
};

TEST_F(HostSequenceTest, LoopsBehindEachOtherShareARegionAndGiveTheSame) {
  const auto wanted = expected({[&] { forth(); }, [&] { back(); }, [&] { forth(); }}, 4);
  const auto first = loop(true);
  HostSequence sequence({first, loop(false), loop(true)});
  EXPECT_FALSE(sequence.run(1));
  EXPECT_EQ(first->n_shared, 0);  // plans are made
  EXPECT_EQ(sequence.report().n_regions, 0);
  EXPECT_FALSE(sequence.run(1));
  EXPECT_EQ(first->n_shared, 1);
  EXPECT_EQ(sequence.report().n_regions, 1);
  EXPECT_EQ(sequence.report().n_shared, 3);
  EXPECT_EQ(sequence.report().n_alone, 0);
  EXPECT_EQ(sequence.report().why, "");
  sequence.run(2);
  EXPECT_EQ(std::pair(x, y), wanted);
  EXPECT_EQ(first->n_noted, first->n_shared);
}

TEST_F(HostSequenceTest, WhatOneThreadDoesIsDoneBetweenTheOthers) {
  const auto clear = [&] { std::ranges::fill(y, 0); };
  const auto wanted =
      expected({[&] { forth(); }, [&] { back(); }, [&] { forth(); }, clear, [&] { back(); }}, 2);
  const auto alone = loop(false);
  alone->is_alone = true;
  HostSequence sequence({loop(true), alone, loop(true), fill(), loop(false)});
  sequence.run(2);
  EXPECT_EQ(std::pair(x, y), wanted);
  EXPECT_EQ(alone->n_alone, 2);
  EXPECT_EQ(sequence.report().n_regions, 1);
  EXPECT_EQ(sequence.report().n_shared, 3);
  EXPECT_EQ(sequence.report().n_alone, 2);
}

TEST_F(HostSequenceTest, ARegionBeginsAndEndsWithLoopsOfTeams) {
  const auto wanted =
      expected({[&] { back(); }, [&] { forth(); }, [&] { back(); }, [&] { forth(); }}, 3);
  const auto before = loop(false);
  const auto behind = loop(true);
  before->is_alone = behind->is_alone = true;
  HostSequence sequence({before, loop(true), loop(false), behind});
  sequence.run(3);
  EXPECT_EQ(std::pair(x, y), wanted);
  EXPECT_EQ(sequence.report().n_alone, 0);
  EXPECT_EQ(sequence.report().n_shared, 2);
}

TEST_F(HostSequenceTest, OneLoopOfATeamHasARegionOfItsOwn) {
  const auto alone = loop(false);
  const auto team = loop(true);
  alone->is_alone = true;
  HostSequence sequence({team, alone});
  sequence.run(5);
  EXPECT_EQ(sequence.report().n_regions, 0);
  EXPECT_EQ(team->n_shared, 0);
  EXPECT_EQ(sequence.trial().arm(Way::as_one).n, 0) << "nothing was compared";
  EXPECT_EQ(sequence.report().why, "one thread carries out all loops, or all but one");
  HostSequence other({team});
  other.run(5);
  EXPECT_EQ(other.report().why, "no two loops that teams carry out stand behind each other");
}

TEST_F(HostSequenceTest, ALoopMayBeThereTwice) {
  const auto wanted = expected({[&] { forth(); }, [&] { back(); }, [&] { forth(); }}, 3);
  const auto twice = loop(true);
  HostSequence sequence({twice, loop(false), twice});
  sequence.run(3);
  EXPECT_EQ(std::pair(x, y), wanted);
}

TEST_F(HostSequenceTest, TheFasterWayIsKept) {
  for (const bool is_shared_faster : {true, false}) {
    const auto one = loop(true);
    watched = {one.get()};
    n_own_seen = n_shared_seen = 0;
    HostSequence sequence({one, loop(false)},
                          clock(is_shared_faster ? 70 : 50, is_shared_faster ? 50 : 70));
    sequence.run(1 + 2 * 8);
    EXPECT_EQ(sequence.trial().single(), is_shared_faster ? Way::as_one : Way::alone);
    const int n_shared = one->n_shared;
    sequence.run(10);
    EXPECT_EQ(one->n_shared - n_shared, is_shared_faster ? 10 : 0);
    EXPECT_EQ(sequence.report().n_regions, is_shared_faster ? 1 : 0);
    EXPECT_EQ(sequence.report().why,
              is_shared_faster ? "" : "regions of their own were measured to be faster");
  }
}

TEST_F(HostSequenceTest, WhatAnotherProcessFoundIsNotMeasuredAgain) {
  for (const bool is_shared : {true, false}) {
    const auto first = loop(true);
    HostSequence sequence({first, loop(false)});
    sequence.learn({{Way::as_one, is_shared ? 10 : 20}, {Way::alone, 15}});
    sequence.run(4);
    EXPECT_EQ(first->n_shared, is_shared ? 3 : 0);
    EXPECT_EQ(sequence.trial().kept(), is_shared ? Way::as_one : Way::alone);
  }
}

TEST_F(HostSequenceTest, ALoopThatFailsEndsTheRegion) {
  const auto bad = loop(true);
  const auto next = loop(false);
  const auto last = loop(true);
  HostSequence sequence({loop(false), bad, next, last});
  sequence.run(1);
  bad->fails = true;
  EXPECT_EQ(op2::testing::message_of<ExecutionError>([&] { sequence.run(1); }), "a check failed");
  EXPECT_EQ(bad->n_shared, 1);
  EXPECT_LE(next->n_shared, 1);
  EXPECT_EQ(last->n_shared, 0);
  bad->fails = false;
  sequence.run(1);
  EXPECT_EQ(last->n_shared + last->n_own, 2);
}

/// Throws when it runs, as a task does whose values may not be brought to the host.
class Refused final : public ValueTask {
 public:
  explicit Refused(const std::shared_ptr<mesh::Buffer>& buffer)
      : ValueTask(nullptr, "refused", {buffer}, {{buffer.get(), mesh::Use::write}}) {}

 private:
  void run_on_host() override { throw UsageError("not now"); }
  void enqueue(Device&, const std::vector<void*>&) override {}
};

TEST_F(HostSequenceTest, AnErrorOfOneThreadLeavesTheRegionWithAllOthers) {
  const auto behind = loop(false);
  const auto alone = loop(true);
  alone->is_alone = true;
  HostSequence sequence({loop(true), alone, behind});
  sequence.run(2);
  HostSequence refused({loop(true), loop(false), std::make_shared<Refused>(buffer), behind});
  EXPECT_THROW(refused.run(1), UsageError);
  EXPECT_EQ(behind->n_shared, 1);
  alone->is_alone = true;
  alone->fails = true;
  EXPECT_THROW(sequence.run(1), ExecutionError);
}

TEST_F(HostSequenceTest, TwoSequencesWithTheSameLoopsDoNotWaitForEachOtherForever) {
  // Loops over the same values would race: only their scratch memory is locked.
  Values first(n_values), second(n_values);
  const Values from(n_values, 1);
  const auto one = std::make_shared<Loop>(first, from);
  const auto two = std::make_shared<Loop>(second, from);
  HostSequence forward({one, two});
  HostSequence backward({two, one});
  std::thread other([&] { backward.run(50); });
  forward.run(50);
  other.join();
  EXPECT_EQ(one->n_own + one->n_shared, 100);
}

TEST_F(HostSequenceTest, WithoutLoopsOfTeamsNothingIsMeasuredAndNothingSaid) {
  HostSequence sequence({fill()});
  sequence.run(3);
  EXPECT_EQ(sequence.trial().arm(Way::as_one).n + sequence.trial().arm(Way::alone).n, 0);
  EXPECT_EQ(sequence.report().why, "");
  EXPECT_EQ(y[0], 0);
}

}  // namespace
}  // namespace op2::runtime
