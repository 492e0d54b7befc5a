// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/device.hpp"
#include "runtime/prepared_loop.hpp"

namespace op2::runtime {

/// @brief Loops that are ready, run one after the other without anybody between them.
///
/// Where the device can record launches, the second run records them, and from then on they are
/// enqueued as one as long as nothing that they depend on changes: addresses, plans, Maps. What a
/// run does besides, copies and counting writes, it does for every loop in both cases.
class Sequence {
 public:
  explicit Sequence(std::vector<std::shared_ptr<PreparedLoop>> loops);

  /// @brief Run all loops, @p n_times. Enqueues them where loops run on a device.
  /// @return Whether values were copied between host and devices; see PreparedLoop::run().
  /// @throws As PreparedLoop::run(): what comes behind has not run then.
  bool run(std::int64_t n_times);

  [[nodiscard]] std::size_t size() const { return loops_.size(); }
  /// @brief The vendor's object that the last run enqueued; 0 if loops were enqueued one by one.
  [[nodiscard]] std::uintptr_t native() const;

 private:
  bool run_once();
  [[nodiscard]] bool is_profiled() const;
  [[nodiscard]] Device* recorder() const;
  bool replay(Device& device, std::int64_t n_times);
  void record(Device& device);

  std::vector<std::shared_ptr<PreparedLoop>> loops_;
  mutable std::mutex mutex_;
  bool has_run_ = false;
  int n_recordings_ = 0;
  std::vector<std::uintptr_t> state_;  // that the recording was made in
  std::unique_ptr<Recording> recording_;
  Device* device_ = nullptr;  // of the recording
};

}  // namespace op2::runtime
