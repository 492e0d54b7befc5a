// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.hpp"
#include "base/trace.hpp"
#include "base/trial.hpp"
#include "mesh/buffer.hpp"
#include "runtime/device.hpp"
#include "runtime/loop_graph.hpp"

namespace op2::runtime {

/// @brief A side of a condition: the only number of a Buffer, or one that is known.
struct ConditionSide {
  std::shared_ptr<mesh::Buffer> buffer;  ///< null: it is known
  DType dtype = DType::float64;          ///< of the Buffer
  double value = 0;
};

/// @brief As long as the left one is greater, or equal too.
struct WhileCondition {
  ConditionSide left;
  ConditionSide right;
  bool or_equal = false;
};

/// @brief Who repeats: the arms of a trial of nanoseconds a pass. Of equals, and where there was
/// nothing to measure, the device.
struct WhileArm {
  static constexpr std::size_t by_device = 0;
  static constexpr std::size_t by_host = 1;
  /// @brief Submits by which each is measured.
  static constexpr int n_each = 2;
};

/// @brief Tasks that the device itself repeats as long as a condition holds, where it can.
///
/// The program repeats them by the host's loop as well, whose first pass makes plans and brings
/// values there. Whatever the device or its driver refuses ends this for good, with the reason.
class DeviceWhile {
 public:
  using Clock = std::function<std::int64_t()>;  // nanoseconds

  /// @param[in] steps The body.
  DeviceWhile(const std::vector<LoopStep>& steps, WhileCondition condition,
              Clock clock = trace_clock);

  /// @brief Whether the next submit should try run(), after a first pass by the host.
  [[nodiscard]] bool is_next() const;

  /// @brief Enqueue all passes that are left; waits for them while it is measured.
  /// @param[in] n_done So many of @p most are over.
  /// @return Nothing if no pass ran, so that the host has to do it; otherwise whether values were
  /// copied between host and devices.
  [[nodiscard]] std::optional<bool> run(std::int64_t n_done, std::int64_t most);

  /// @brief What the host's loop took, the device being waited for before and after.
  void note_host(std::int64_t nanoseconds, std::int64_t n_passes);

  /// @brief What was measured, see WhileArm.
  [[nodiscard]] Trial trial() const;
  /// @brief Why the device does not do it; empty as long as it may.
  [[nodiscard]] std::string why_not() const;
  /// @brief The vendor's object that was enqueued last; 0: none.
  [[nodiscard]] std::uintptr_t native() const;

 private:
  [[nodiscard]] std::string find_hindrance() const;
  [[nodiscard]] bool is_profiled() const;
  bool make_ready(std::int64_t most);
  [[nodiscard]] void* on_device(mesh::Buffer* buffer, bool& has_copied);
  void record(std::int64_t most);
  void keep(std::unique_ptr<Recording> recording);
  void give_up(std::string why);
  void note(std::size_t arm, std::int64_t nanoseconds, std::int64_t n_passes);

  std::vector<LoopKernel> tasks_;
  WhileCondition condition_;
  Clock clock_;
  std::shared_ptr<Device> device_;
  std::mutex mutex_;  // one run at a time
  int n_recordings_ = 0;
  std::vector<std::uintptr_t> state_;  // that the recording was made in
  void* left_ = nullptr;               // on the device
  void* right_ = nullptr;
  std::unique_ptr<Recording> recording_;
  // What is told to others during a run, too: functions of the program that it calls may ask.
  mutable std::mutex told_mutex_;
  std::string why_not_;
  Trial trial_{2, {.n_each = WhileArm::n_each, .preferred = WhileArm::by_device}};
  std::uintptr_t native_ = 0;
};

}  // namespace op2::runtime
