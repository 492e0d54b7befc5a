// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/device.hpp"
#include "runtime/timing.hpp"

namespace op2::runtime {

/// @brief Loops on a device, timed by the device. Only settle() waits for a result; other results
/// are read when a later loop is measured and the result is ready. Safe to use from several
/// threads.
class Meter {
 public:
  /// @brief Loops under way at most; beyond, calls are not measured.
  static constexpr std::size_t most_under_way = 256;

  /// @brief The launches within a span.
  struct Work {
    int n_calls = 1;  ///< 0: part of a call counted by another part
    std::int64_t n_bytes = 0;
  };

  explicit Meter(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  /// @brief Begin to measure the next work of this thread; null if measuring is impossible now.
  [[nodiscard]] std::unique_ptr<DeviceSpan> open();

  /// @brief End the span, and later add the time to @p timing and to its Trace.
  void close(std::unique_ptr<DeviceSpan> span, std::shared_ptr<Timing> timing, std::string loop,
             Work work);

  /// @brief Wait for the device, and add up all work under way.
  /// @throws ExecutionError if a loop has failed.
  void settle();

 private:
  struct UnderWay {
    std::unique_ptr<DeviceSpan> span;
    std::shared_ptr<Timing> timing;
    std::string loop;
    Work work;
  };

  void collect();

  std::shared_ptr<Device> device_;
  std::mutex mutex_;
  std::deque<UnderWay> under_way_;  // in order
};

}  // namespace op2::runtime
