// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/trace.hpp"
#include "runtime/device.hpp"
#include "runtime/prepared_loop.hpp"

namespace op2::runtime {

/// @brief Whether it pays to enqueue launches as one, by what was measured.
struct ReplayTrial {
  std::int64_t alone = 0;   ///< nanoseconds of a run, loop by loop; the shortest so far, 0: none
  std::int64_t as_one = 0;  ///< the same, all as one
  int n_alone = 0;          ///< how often it was measured
  int n_as_one = 0;

  /// @brief How often each is measured.
  static constexpr int n_each = 3;

  [[nodiscard]] bool is_decided() const { return n_alone >= n_each && n_as_one >= n_each; }
  [[nodiscard]] bool pays() const { return as_one <= alone; }
};

/// @brief Loops that are ready, run one after the other without anybody between them.
///
/// Where the device can record launches, the second run records them. The next runs go by turns
/// loop by loop and all as one, and the device is waited for, to measure what is faster; from then
/// on that is done. As one they are enqueued as long as nothing that they depend on changes:
/// addresses, plans, Maps. What a run does besides, copies and counting writes, it does for every
/// loop in both cases.
class Sequence {
 public:
  using Clock = std::function<std::int64_t()>;  // nanoseconds

  explicit Sequence(std::vector<std::shared_ptr<PreparedLoop>> loops, Clock clock = trace_clock);

  /// @brief Run all loops, @p n_times. Enqueues them where loops run on a device.
  /// @return Whether values were copied between host and devices; see PreparedLoop::run().
  /// @throws As PreparedLoop::run(): what comes behind has not run then.
  bool run(std::int64_t n_times);

  [[nodiscard]] std::size_t size() const { return loops_.size(); }
  /// @brief The vendor's object that the last run enqueued; 0 if loops were enqueued one by one.
  [[nodiscard]] std::uintptr_t native() const;
  /// @brief What was measured so far.
  [[nodiscard]] ReplayTrial trial() const;

 private:
  bool run_once();
  [[nodiscard]] bool is_profiled() const;
  [[nodiscard]] Device* recorder() const;
  bool replay(Device& device, std::int64_t n_times);
  void record(Device& device);
  void launch_all(Device& device);
  void measure(Device& device);
  void launch_each();

  std::vector<std::shared_ptr<PreparedLoop>> loops_;
  mutable std::mutex mutex_;
  bool has_run_ = false;
  int n_recordings_ = 0;
  std::vector<std::uintptr_t> state_;  // that the recording was made in
  std::unique_ptr<Recording> recording_;
  Device* device_ = nullptr;  // of the recording
  Clock clock_;
  ReplayTrial trial_;
};

}  // namespace op2::runtime
