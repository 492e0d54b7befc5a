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

/// @brief What a device says of itself.
struct DeviceInfo {
  std::string backend;   ///< that reaches it: "opencl", "cuda"
  std::string platform;  ///< OpenCL's platform; "CUDA"
  std::string name;
  std::string driver;      ///< version
  std::string capability;  ///< "sm_90", "OpenCL C 1.2"
  std::int64_t memory_bytes = 0;
  std::int64_t largest_bytes = 0;  ///< of a single buffer
  std::int64_t shared_bytes = 0;   ///< of one block
  int n_units = 0;                 ///< multiprocessors, compute units
  int max_lanes = 0;               ///< of one block
  int warp = 0;                    ///< lanes that can exchange registers; 0: none
  bool float64 = false;
  bool is_cpu = false;
};

using exec::DeviceKernel;
using exec::Grid;
using exec::LaunchArgument;
using exec::Program;

/// @brief Launches whose time a device measures by its own clock.
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

  /// @brief What it took; nothing while it is under way, or if it failed. Waits for nothing.
  [[nodiscard]] virtual std::optional<Interval> measured() = 0;
};

/// @brief Launches that a device keeps to enqueue them again, all as one.
class Recording {
 public:
  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  virtual ~Recording() = default;

  /// @brief Address of the vendor's own object.
  [[nodiscard]] virtual std::uintptr_t native() const = 0;
};

/// @brief A side of a comparison: a number in the memory of a device, or one that is known.
struct ComparedNumber {
  void* memory = nullptr;  ///< null: it is known
  DType dtype = DType::float64;
  double value = 0;
};

/// @brief How long a device repeats what was recorded: as long as the left number is greater, and
/// so many times at most.
struct RepeatCondition {
  ComparedNumber left;
  ComparedNumber right;
  bool or_equal = false;
  std::int64_t most = 0;
};

/// @brief What a recording has become.
struct Repeated {
  std::unique_ptr<Recording> recording;  ///< null: nothing
  std::string why_not;                   ///< then: what the device lacks, or its driver refused
};

/// @brief What enqueues into a queue, given the vendor's handle of it.
using QueueUser = std::function<void(std::uintptr_t queue)>;

/// @brief A device that runs kernels, in the order in which they are launched.
class Device : public mesh::Device {
 public:
  [[nodiscard]] virtual const DeviceInfo& info() const = 0;

  /// @brief Load what the backend's compiler made for this device.
  [[nodiscard]] virtual std::shared_ptr<Program> load(const std::string& binary) = 0;

  /// @brief Enqueue a kernel; waits for nothing.
  /// @param[in] loop Named in the error that a fault raises at the next wait; must outlive it.
  /// @param[in] span What it is measured with, open; null: it is not measured.
  virtual void launch(DeviceKernel& kernel, const Grid& grid,
                      std::span<const LaunchArgument> arguments, const std::string& loop,
                      DeviceSpan* span) = 0;
  void launch(DeviceKernel& kernel, const Grid& grid, std::span<const LaunchArgument> arguments,
              const std::string& loop) {
    launch(kernel, grid, arguments, loop, nullptr);
  }

  /// @brief Where commands of the calling thread go that are no launches, such as those of another
  /// library: the vendor's stream, which is that of the recording while the thread records, so that
  /// they become nodes of it. Asked for each command. 0: the device has no such thing.
  [[nodiscard]] virtual std::uintptr_t command_stream() { return 0; }

  /// @brief Let a vendor's library enqueue work in the order of launches. Meanwhile the device is
  /// the calling thread's, as the vendor's functions want it.
  /// @param[in] what Named in the error that a fault raises; must outlive it.
  /// @param[in] use Takes the vendor's handle of the queue; waits for nothing.
  /// @return Whether there are such libraries; if not, @p use was not called.
  virtual bool lend_queue(const std::string& /*what*/, const QueueUser& /*use*/) { return false; }

  /// @brief Whether launches can be recorded at all.
  [[nodiscard]] virtual bool can_record() const { return false; }
  /// @brief From now on the calling thread's launches are kept and not run, until stop_recording().
  /// @return Whether they are; one thread at a time can record.
  [[nodiscard]] virtual bool start_recording() { return false; }
  /// @brief What the recording thread launches from now on, until the next call, is a group that
  /// waits for some of those before it only, by their numbers. Without a call all is in one order.
  /// @return Whether the device can do that; if not, the recording is of no use.
  [[nodiscard]] virtual bool start_group(std::span<const std::size_t> /*after*/) { return false; }
  /// @brief What was launched since then; null if it cannot be enqueued as one.
  [[nodiscard]] virtual std::unique_ptr<Recording> stop_recording() { return nullptr; }
  /// @brief Enqueue everything of a recording of this device; waits for nothing.
  virtual void replay(Recording& /*recording*/) {}

  /// @brief As start_recording(), of what is repeated by the device itself, which asks the
  /// condition before each time; stop_repeating() ends it.
  /// @return Empty, or why the device cannot do that.
  [[nodiscard]] virtual std::string start_repeating(const RepeatCondition& /*condition*/) {
    return "this device cannot repeat launches by itself";
  }
  [[nodiscard]] virtual Repeated stop_repeating() { return {}; }
  /// @brief As replay(), of what stop_repeating() returned.
  /// @param[in] n_done So many times of the most are over.
  virtual void repeat(Recording& /*recording*/, std::int64_t /*n_done*/) {}
  /// @brief How often the last repeat() has done it, and what was said to be over. Waits.
  [[nodiscard]] virtual std::int64_t n_repeated(Recording& /*recording*/) { return 0; }

  /// @brief From now on spans can be opened; calls may nest. May wait, and make launches slower.
  virtual void start_clock() {}
  virtual void stop_clock() {}
  /// @brief Begin to measure launches; null while the clock is stopped, or if the device has none.
  [[nodiscard]] virtual std::unique_ptr<DeviceSpan> open_span() { return nullptr; }
  /// @brief Nothing more is launched with it.
  virtual void close_span(DeviceSpan& /*span*/) {}
};

}  // namespace op2::runtime
