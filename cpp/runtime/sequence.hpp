// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/trace.hpp"
#include "base/trial.hpp"
#include "runtime/device.hpp"
#include "runtime/graph_task.hpp"

namespace op2::runtime {

/// @brief What changes more often than that is not worth another recording.
inline constexpr int most_recordings = 8;

/// @brief How launches that were recorded can be enqueued.
enum class Way { undecided, alone, as_one, side_by_side, several };

/// @brief What each way takes, as measured.
///
/// Single runs take turns: all as one in one order; side by side, where nothing orders them, if
/// that is possible; and loop by loop. n_several runs that are one are measured apart, when so many
/// are asked for.
class ReplayTrial {
 public:
  /// @brief How often each is measured on a device.
  static constexpr int n_each = 3;
  /// @brief So many runs at most are measured at once.
  static constexpr std::int64_t most_at_once = 8;

  /// @param[in] n_wanted How often each is measured.
  explicit ReplayTrial(int n_wanted = n_each);

  /// @brief Say whether side_by_side is possible.
  void set_branches(bool has_branches) { turns_.allow(arm_of(Way::side_by_side), has_branches); }
  [[nodiscard]] bool has_branches() const { return arm(Way::side_by_side).is_possible; }

  /// @brief The one that was measured least, of a single run.
  [[nodiscard]] Way next() const { return way_of(turns_.next()); }
  /// @brief How many runs of it to measure at once, if @p n_left come: a device that works on the
  /// next one already does not wait for the host in between.
  [[nodiscard]] std::int64_t n_at_once(std::int64_t n_left) const;
  /// @param[in] nanoseconds Of one run.
  void note(Way way, std::int64_t nanoseconds);
  /// @brief What was measured of a way, in nanoseconds of a run.
  [[nodiscard]] const Trial::Arm& arm(Way way) const;
  /// @brief What a single run does from now on: the fastest; of equals one that enqueues all as
  /// one.
  [[nodiscard]] Way single() const;
  /// @brief The same, or several where that is faster.
  [[nodiscard]] Way kept() const;
  [[nodiscard]] bool is_several_decided() const { return several_.is_decided(); }

 private:
  [[nodiscard]] static std::size_t arm_of(Way way);
  [[nodiscard]] static Way way_of(std::size_t arm);

  Trial turns_;
  Trial several_;
};

/// @brief Loops that are ready, run one after the other without anybody between them.
///
/// Where the device can record launches, the second run records them. The next runs go by turns
/// loop by loop, all as one, and as one with branches side by side, and the device is waited for,
/// to measure what is faster; from then on that is done. Where that is a recording, one of several
/// runs is tried, too, as soon as so many are asked for at once. As one they are enqueued as long
/// as nothing that they depend on changes: addresses, plans, Maps. What a run does besides, copies
/// and counting writes, it does for every loop in all cases.
///
/// Where a run leaves two Buffers in each other's places, the next one finds other addresses, and
/// the one after it the first ones again: there are two recordings then, used by turns.
class Sequence {
 public:
  using Clock = std::function<std::int64_t()>;  // nanoseconds
  /// @brief Runs that are recorded as one where many are asked for.
  static constexpr std::int64_t n_several = 8;

  /// @param[in] order Of each loop those before it that it waits for; none at all: one order.
  explicit Sequence(std::vector<std::shared_ptr<GraphTask>> loops,
                    std::vector<std::vector<std::size_t>> order = {}, Clock clock = trace_clock);

  /// @brief Run all loops, @p n_times. Enqueues them where loops run on a device.
  /// @return Whether values were copied between host and devices; see GraphTask::run().
  /// @throws As GraphTask::run(): what comes behind has not run then.
  bool run(std::int64_t n_times);

  [[nodiscard]] std::size_t size() const { return loops_.size(); }
  /// @brief The vendor's object that the last run enqueued; 0 if loops were enqueued one by one.
  [[nodiscard]] std::uintptr_t native() const;
  /// @brief What was measured so far.
  [[nodiscard]] ReplayTrial trial() const;
  /// @brief Why the last run was not recorded, and what to do; empty: it was, or there was only the
  /// first one, or single launches were measured to be faster.
  [[nodiscard]] std::string why_not() const;

 private:
  /// What was recorded for one state.
  struct Recorded {
    std::vector<std::uintptr_t> state;
    std::unique_ptr<Recording> as_one;
    std::unique_ptr<Recording> side_by_side;
    std::unique_ptr<Recording> several;

    void forget();
  };

  bool run_all(std::int64_t n_times);
  bool run_once();
  /// Let others know how things stand.
  void tell();
  [[nodiscard]] bool is_profiled() const;
  /// @brief The device that can record all loops; null: none, and why_not_ says why.
  [[nodiscard]] Device* recorder();
  [[nodiscard]] Device* not_recorded(std::string why);
  bool make_ready(Device& device);
  bool replay(Device& device, std::int64_t n_times);
  void record(Device& device);
  /// @param[in] n_times More than once in one order only.
  [[nodiscard]] std::unique_ptr<Recording> recorded(Device& device, bool is_side_by_side,
                                                    std::int64_t n_times);
  void forget_recordings();
  std::int64_t launch_some(Device& device, std::int64_t n_left);
  void launch(Device& device, Way way);
  void measure(Device& device, Way way, std::int64_t n_runs);
  void decide();
  [[nodiscard]] bool is_several_next(Device& device);

  std::vector<std::shared_ptr<GraphTask>> loops_;
  std::vector<std::vector<std::size_t>> order_;
  std::mutex mutex_;  // one run at a time
  bool has_run_ = false;
  int n_recordings_ = 0;
  std::array<Recorded, 2> recorded_;
  std::size_t now_ = 0;        // which of them
  bool is_in_place_ = true;    // another run finds the same addresses
  bool has_exchange_ = false;  // addresses may change between loops
  bool is_repeating_ = false;  // a loop is there twice
  bool is_several_possible_ = true;
  bool is_refused_ = false;   // the last recording was
  Device* device_ = nullptr;  // of the recordings
  Clock clock_;
  ReplayTrial trial_;
  std::string why_not_;
  // What is told to others during a run, too: how things stood behind the last one.
  mutable std::mutex told_mutex_;
  ReplayTrial told_trial_;
  std::string told_why_not_;
  std::uintptr_t told_native_ = 0;
};

}  // namespace op2::runtime
