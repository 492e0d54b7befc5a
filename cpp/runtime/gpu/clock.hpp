// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/device.hpp"
#include "runtime/gpu/context.hpp"

namespace op2::runtime::gpu {

/// @brief Events that keep time, handed out and taken back. Safe to use from several threads.
///
/// Outlives the device where spans do; nothing here waits but start().
class Clock : public std::enable_shared_from_this<Clock> {
 public:
  /// @brief Events made at most: two for each span.
  static constexpr std::size_t most_events = 1024;

  explicit Clock(std::shared_ptr<Context> context) : context_(std::move(context)) {}
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  ~Clock();

  /// @brief Mark now on the stream and on the host, so times of the two can be compared; waits for
  /// the stream. Calls may nest.
  /// @return The result of the wait.
  Result start();
  void stop();

  /// @brief A span from now on; null while the clock is stopped, or without free events.
  [[nodiscard]] std::unique_ptr<DeviceSpan> open();
  /// @brief Mark the end of @p span, a result of open().
  void close(DeviceSpan& span) const;

 private:
  class Span;

  [[nodiscard]] EventHandle take();
  void give_back(EventHandle event);
  [[nodiscard]] std::int64_t begin_of(EventHandle event) const;

  std::shared_ptr<Context> context_;
  mutable std::mutex mutex_;  // guards the members below
  std::vector<EventHandle> free_;
  std::size_t n_events_ = 0;
  int n_starts_ = 0;
  EventHandle origin_ = nullptr;
  std::int64_t host_origin_ = 0;  // trace_clock() at the origin
};

}  // namespace op2::runtime::gpu
