// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/trace.hpp"
#include "base/trial.hpp"
#include "runtime/device.hpp"
#include "runtime/graph_task.hpp"

namespace op2::runtime {

/// @brief Maximum number of recordings of a graph: a graph that changes more often is no longer
/// recorded.
inline constexpr int most_recordings = 8;

/// @brief The ways to enqueue recorded launches.
enum class Way { undecided, alone, as_one, side_by_side, several };

/// @brief A way, and the nanoseconds of a run.
using Measurement = std::pair<Way, double>;

/// @brief The measured time of each way.
///
/// Single runs take turns: all as a unit in order; side by side where possible, if no order is
/// given; and loop by loop. A unit of n_several runs is measured separately, when the program asks
/// for enough runs.
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

  /// @brief The way measured least, of a single run.
  [[nodiscard]] Way next() const { return way_of(turns_.next()); }
  /// @brief How many runs of the way to measure at once, with @p n_left to come: a device with the
  /// next run already enqueued does not wait for the host in between.
  [[nodiscard]] std::int64_t n_at_once(std::int64_t n_left) const;
  /// @param[in] nanoseconds Of a run.
  void note(Way way, std::int64_t nanoseconds);
  /// @brief Take a measurement of another process: the way takes no turns any more.
  void learn(Way way, double nanoseconds);
  /// @brief The measurements of a way, in nanoseconds of a run.
  [[nodiscard]] const Trial::Arm& arm(Way way) const;
  /// @brief The way of single runs from now on: the fastest; of equals a way that enqueues all as a
  /// unit.
  [[nodiscard]] Way single() const;
  /// @brief The same, or several where faster.
  [[nodiscard]] Way kept() const;
  [[nodiscard]] bool is_several_decided() const { return several_.is_decided(); }

 private:
  int n_wanted_;
  [[nodiscard]] static std::size_t arm_of(Way way);
  [[nodiscard]] static Way way_of(std::size_t arm);

  Trial turns_;
  Trial several_;
};

/// @brief Loops that are ready, run in sequence without anything between them.
///
/// Where the device can record launches, the second run records them. The next runs go by turns:
/// loop by loop, all as a unit, and as a unit with branches side by side. Each turn waits for the
/// device, to measure the fastest way, and the fastest way is kept. For a recording, a unit of
/// several runs is tried, too, as soon as the program asks for enough runs at once. Recordings hold
/// while everything behind the launches is unchanged: addresses, plans, Maps. The rest of a run,
/// copies and counting writes, happens for every loop in all cases.
///
/// Where a run leaves two Buffers in each other's places, the next run finds other addresses, and
/// the run after next the first addresses again: then there are two recordings, used by turns.
class Sequence {
 public:
  using Clock = std::function<std::int64_t()>;  // nanoseconds
  /// @brief Runs in a unit, where the program asks for many.
  static constexpr std::int64_t n_several = 8;

  /// @param[in] order For each loop the earlier loops to wait for; empty: in sequence.
  explicit Sequence(std::vector<std::shared_ptr<GraphTask>> loops,
                    std::vector<std::vector<std::size_t>> order = {}, Clock clock = trace_clock);

  /// @brief Run all loops, @p n_times. Loops on a device are enqueued.
  /// @return Whether values were copied between host and devices; see GraphTask::run().
  /// @throws As GraphTask::run(): later tasks have not run then.
  bool run(std::int64_t n_times);

  [[nodiscard]] std::size_t size() const { return loops_.size(); }
  /// @brief The vendor's object enqueued by the last run; 0 if loops were enqueued one by one.
  [[nodiscard]] std::uintptr_t native() const;
  /// @brief Take measurements of another process, before the first run.
  void learn(const std::vector<Measurement>& measured);
  /// @brief The measurements so far.
  [[nodiscard]] ReplayTrial trial() const;
  /// @brief Why the last run was not recorded, and the remedy; empty: recorded, only the first run
  /// so far, or single launches were measured to be faster.
  [[nodiscard]] std::string why_not() const;

 private:
  /// The recording of a state.
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
  /// @brief The device able to record all loops; null: none, and why_not_ has the reason.
  [[nodiscard]] Device* recorder();
  [[nodiscard]] Device* not_recorded(std::string why);
  bool make_ready(Device& device);
  bool replay(Device& device, std::int64_t n_times);
  void record(Device& device);
  /// @param[in] n_times More than once only without branches side by side.
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
  std::mutex mutex_;  // a single run at a time
  bool has_run_ = false;
  int n_recordings_ = 0;
  std::array<Recorded, 2> recorded_;
  std::size_t now_ = 0;        // the current recording's number
  bool is_in_place_ = true;    // another run finds the same addresses
  bool has_exchange_ = false;  // addresses may change between loops
  bool is_repeating_ = false;  // a loop is there twice
  bool is_several_possible_ = true;
  bool is_refused_ = false;   // the last recording was
  Device* device_ = nullptr;  // of the recordings
  Clock clock_;
  ReplayTrial trial_;
  std::string why_not_;
  // Guards the answers to others during a run, too: the state after the last run.
  mutable std::mutex told_mutex_;
  ReplayTrial told_trial_;
  std::string told_why_not_;
  std::uintptr_t told_native_ = 0;
};

}  // namespace op2::runtime
