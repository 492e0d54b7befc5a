// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.hpp"
#include "exec/program.hpp"
#include "mesh/device.hpp"

namespace op2::runtime {

/// @brief Facts that a device reports.
struct DeviceInfo {
  std::string backend;   ///< the backend for the device: "opencl", "cuda"
  std::string platform;  ///< OpenCL's platform; "CUDA"
  std::string name;
  std::string driver;      ///< version
  std::string capability;  ///< "sm_90", "OpenCL C 1.2"
  std::int64_t memory_bytes = 0;
  std::int64_t largest_bytes = 0;  ///< of a single buffer
  std::int64_t shared_bytes = 0;   ///< of one block
  int n_units = 0;                 ///< multiprocessors, compute units
  int max_lanes = 0;               ///< of one block
  int warp = 0;                    ///< lanes able to exchange registers; 0: none
  bool float64 = false;
  bool is_cpu = false;
};

using exec::DeviceKernel;
using exec::Grid;
using exec::LaunchArgument;
using exec::Program;

/// @brief Launches timed by a device's own clock.
class DeviceSpan {
 public:
  struct Interval {
    std::int64_t begin = 0;  ///< by trace_clock(), as near as the device can tell
    std::int64_t nanoseconds = 0;
  };

  DeviceSpan() = default;
  DeviceSpan(const DeviceSpan&) = delete;
  DeviceSpan& operator=(const DeviceSpan&) = delete;
  virtual ~DeviceSpan() = default;

  /// @brief The measured time; nothing while the work is under way, or after a failure. Waits for
  /// nothing.
  [[nodiscard]] virtual std::optional<Interval> measured() = 0;
};

/// @brief Launches kept by a device, to be enqueued again as a unit.
class Recording {
 public:
  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  virtual ~Recording() = default;

  /// @brief Address of the vendor's own object.
  [[nodiscard]] virtual std::uintptr_t native() const = 0;
};

/// @brief A side of a comparison: a number in the memory of a device, or a known number.
struct ComparedNumber {
  void* memory = nullptr;  ///< null: known
  DType dtype = DType::float64;
  double value = 0;
};

/// @brief How long a device repeats a recording: while the left number is greater, and up to a
/// number of times.
struct RepeatCondition {
  ComparedNumber left;
  ComparedNumber right;
  bool or_equal = false;
  std::int64_t most = 0;
};

/// @brief The result of a recording.
struct Repeated {
  std::unique_ptr<Recording> recording;  ///< null: nothing
  std::string why_not;                   ///< then: the device lacks something, or its driver
                                         ///< refused
};

/// @brief A function that enqueues into a queue, called with the vendor's handle.
using QueueUser = std::function<void(std::uintptr_t queue)>;

/// @brief A device that runs kernels, in the order of their launches.
class Device : public mesh::Device {
 public:
  [[nodiscard]] virtual const DeviceInfo& info() const = 0;

  /// @brief Load the compiled output of the backend's compiler for this device.
  [[nodiscard]] virtual std::shared_ptr<Program> load(const std::string& binary) = 0;

  /// @brief Enqueue a kernel; waits for nothing.
  /// @param[in] loop Named in the error that a fault raises at the next wait; must outlive the
  /// wait.
  /// @param[in] span The measurement, open; null: not measured.
  virtual void launch(DeviceKernel& kernel, const Grid& grid,
                      std::span<const LaunchArgument> arguments, const std::string& loop,
                      DeviceSpan* span) = 0;
  void launch(DeviceKernel& kernel, const Grid& grid, std::span<const LaunchArgument> arguments,
              const std::string& loop) {
    launch(kernel, grid, arguments, loop, nullptr);
  }

  /// @brief The queue for commands of the calling thread other than launches, such as those of
  /// another library: the vendor's stream. While the thread records, the stream is the recording's,
  /// so commands become nodes there. Asked for each command. 0: the device has no such queue.
  [[nodiscard]] virtual std::uintptr_t command_stream() { return 0; }

  /// @brief Let a vendor's library enqueue work in the order of launches. Meanwhile the device is
  /// current on the calling thread, as the vendor's functions need.
  /// @param[in] what Named in the error that a fault raises; must outlive the work.
  /// @param[in] use Takes the vendor's handle of the queue; waits for nothing.
  /// @return Whether there are such libraries; if not, @p use was not called.
  virtual bool lend_queue(const std::string& /*what*/, const QueueUser& /*use*/) { return false; }

  /// @brief Whether launches can be recorded at all.
  [[nodiscard]] virtual bool can_record() const { return false; }
  /// @brief Keep later launches of the calling thread without running them, until stop_recording().
  /// @return Whether launches are kept; a single thread at a time can record.
  [[nodiscard]] virtual bool start_recording() { return false; }
  /// @brief Begin a group: launches of the recording thread until the next call wait only for some
  /// earlier groups, by number. Without a call all launches are in order.
  /// @return Whether the device has groups; if not, the recording is of no use.
  [[nodiscard]] virtual bool start_group(std::span<const std::size_t> /*after*/) { return false; }
  /// @brief The launches since start_recording(); null if the device cannot enqueue them as a unit.
  [[nodiscard]] virtual std::unique_ptr<Recording> stop_recording() { return nullptr; }
  /// @brief Enqueue all launches of a recording of this device; waits for nothing.
  virtual void replay(Recording& /*recording*/) {}

  /// @brief As start_recording(), for launches repeated by the device: the device checks the
  /// condition before each pass; stop_repeating() ends the recording.
  /// @return Empty, or why the device cannot repeat.
  [[nodiscard]] virtual std::string start_repeating(const RepeatCondition& /*condition*/) {
    return "this device cannot repeat launches by itself";
  }
  [[nodiscard]] virtual Repeated stop_repeating() { return {}; }
  /// @brief As replay(), for the result of stop_repeating().
  /// @param[in] n_done Passes already done, of the condition's largest number.
  virtual void repeat(Recording& /*recording*/, std::int64_t /*n_done*/) {}
  /// @brief The passes of the last repeat(), with the passes given as done. Waits.
  [[nodiscard]] virtual std::int64_t n_repeated(Recording& /*recording*/) { return 0; }

  /// @brief From now on spans can be opened; calls may nest. May wait, and make launches slower.
  virtual void start_clock() {}
  virtual void stop_clock() {}
  /// @brief Begin to measure launches; null while the clock is stopped, or if the device has none.
  [[nodiscard]] virtual std::unique_ptr<DeviceSpan> open_span() { return nullptr; }
  /// @brief End the span: no more launches belong to @p span.
  virtual void close_span(DeviceSpan& /*span*/) {}
};

}  // namespace op2::runtime
