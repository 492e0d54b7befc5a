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

/// @brief A side of a condition: the only number of a Buffer, or a known number.
struct ConditionSide {
  std::shared_ptr<mesh::Buffer> buffer;  ///< null: known
  DType dtype = DType::float64;          ///< of the Buffer
  double value = 0;
};

/// @brief True while the left side is greater, or also equal.
struct WhileCondition {
  ConditionSide left;
  ConditionSide right;
  bool or_equal = false;
};

/// @brief The repeater: the arms of a trial of nanoseconds a pass. For equal times, and without a
/// measurement, the device wins.
struct WhileArm {
  static constexpr std::size_t by_device = 0;
  static constexpr std::size_t by_host = 1;
  /// @brief Submits measured for each arm.
  static constexpr int n_each = 2;
};

/// @brief Tasks repeated by the device while a condition holds, where possible.
///
/// The program can repeat the tasks by the host's loop as well; the first pass of the host makes
/// plans and brings values to the device. A refusal of the device or its driver is final, with the
/// reason.
class DeviceWhile {
 public:
  using Clock = std::function<std::int64_t()>;  // nanoseconds

  /// @param[in] steps The body.
  DeviceWhile(const std::vector<LoopStep>& steps, WhileCondition condition,
              Clock clock = trace_clock);

  /// @brief Whether the next submit should try run(), after a first pass by the host.
  [[nodiscard]] bool is_next() const;

  /// @brief Enqueue all remaining passes; waits for them during measurements.
  /// @param[in] n_done Passes already done, of @p most.
  /// @return Nothing if no pass ran, and the host has to run them; otherwise whether values were
  /// copied between host and devices.
  [[nodiscard]] std::optional<bool> run(std::int64_t n_done, std::int64_t most);

  /// @brief Note the time of the host's loop, with waits for the device before and after.
  void note_host(std::int64_t nanoseconds, std::int64_t n_passes);

  /// @brief Take a measurement of another process, in nanoseconds of a pass.
  void learn(std::size_t arm, double nanoseconds);
  /// @brief The measurements so far, see WhileArm.
  [[nodiscard]] Trial trial() const;
  /// @brief Why the device does not repeat; empty while the device may.
  [[nodiscard]] std::string why_not() const;
  /// @brief The vendor's object of the last submit; 0: none.
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
  std::mutex mutex_;  // a single run at a time
  int n_recordings_ = 0;
  std::vector<std::uintptr_t> state_;  // the state of the recording
  void* left_ = nullptr;               // on the device
  void* right_ = nullptr;
  std::unique_ptr<Recording> recording_;
  // Guards the answers to others during a run, too: functions of the program may ask within a run.
  mutable std::mutex told_mutex_;
  std::string why_not_;
  Trial trial_{2, {.n_each = WhileArm::n_each, .preferred = WhileArm::by_device}};
  std::uintptr_t native_ = 0;
};

}  // namespace op2::runtime
