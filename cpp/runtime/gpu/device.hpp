// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "runtime/device.hpp"
#include "runtime/gpu/clock.hpp"
#include "runtime/gpu/context.hpp"
#include "runtime/gpu/driver.hpp"
#include "runtime/gpu/memory.hpp"
#include "runtime/gpu/program.hpp"
#include "runtime/gpu/recording.hpp"
#include "runtime/gpu/repetition.hpp"
#include "runtime/gpu/staging.hpp"
#include "runtime/in_flight.hpp"

namespace op2::runtime::gpu {

/// @brief A GPU behind the driver's table. Safe to use from several threads.
///
/// A kernel with a forbidden access to memory ends the whole context: the error names the loop, and
/// every later call repeats the error, because only a new process gets a new context.
class Gpu final : public Device {
 public:
  /// @param[in] index Of the GPU, as list_devices() counts.
  /// @throws UsageError if there is no such GPU. @throws ExecutionError if it cannot be used.
  Gpu(const std::shared_ptr<const Driver>& driver, int index);

  [[nodiscard]] std::string name() const override { return context_->name(); }
  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  /// @brief The stream, in the form for other libraries.
  [[nodiscard]] StreamHandle stream() const { return context_->stream(); }

  [[nodiscard]] mesh::ExchangePlace exchange_place() const override;
  void wait_for_stream(std::uintptr_t stream) override;
  [[nodiscard]] std::shared_ptr<void> allocate(std::int64_t n_bytes,
                                               std::string_view what) override;
  void limit_memory(std::int64_t n_bytes) override { memory_.limit(n_bytes); }
  void upload(void* to, std::int64_t to_offset, const void* from, std::int64_t n_bytes) override;
  void download(void* to, const void* from, std::int64_t from_offset,
                std::int64_t n_bytes) override;
  void copy(void* to, std::int64_t to_offset, const void* from, std::int64_t from_offset,
            std::int64_t n_bytes) override;
  void zero(void* memory, std::int64_t offset, std::int64_t n_bytes) override;
  void set(void* memory, std::span<const std::byte> value) override;
  void finish() override;

  [[nodiscard]] std::shared_ptr<Program> load(const std::string& binary) override;
  using Device::launch;
  void launch(DeviceKernel& kernel, const Grid& grid, std::span<const LaunchArgument> arguments,
              const std::string& loop, DeviceSpan* span) override;
  [[nodiscard]] std::uintptr_t command_stream() override {
    return reinterpret_cast<std::uintptr_t>(stream_of_commands());
  }
  bool lend_queue(const std::string& what, const QueueUser& use) override;
  [[nodiscard]] bool can_record() const override;
  [[nodiscard]] bool start_recording() override;
  [[nodiscard]] bool start_group(std::span<const std::size_t> after) override;
  [[nodiscard]] std::unique_ptr<Recording> stop_recording() override;
  void replay(Recording& recording) override;
  [[nodiscard]] std::string start_repeating(const RepeatCondition& condition) override;
  [[nodiscard]] Repeated stop_repeating() override;
  void repeat(Recording& recording, std::int64_t n_done) override;
  [[nodiscard]] std::int64_t n_repeated(Recording& recording) override;
  void start_clock() override;
  void stop_clock() override { clock_->stop(); }
  [[nodiscard]] std::unique_ptr<DeviceSpan> open_span() override { return clock_->open(); }
  void close_span(DeviceSpan& span) override { clock_->close(span); }

 private:
  void check_usable() const;
  void check(Result result, std::string_view doing);
  void wait();
  [[noreturn]] void lose(Result result);
  /// @brief The target of a launch, and whether the launch may start while the launch before ends.
  struct Place {
    StreamHandle stream;
    bool may_be_early;
  };
  /// @brief Note a launch of the calling thread.
  Place note_launch(const std::string& loop);
  [[nodiscard]] StreamHandle stream_of_commands();
  /// @brief The calling thread's capture, which ends; null if there is none.
  [[nodiscard]] std::unique_ptr<Capture> take_capture();
  Result enqueue(const Kernel& kernel, const Grid& grid, void** values, Place place) const;

  std::shared_ptr<Context> context_;
  Memory memory_;
  Staging staging_;
  std::shared_ptr<Clock> clock_;
  DeviceInfo info_;
  mutable std::mutex mutex_;  // guards everything below; never held while waiting
  InFlight in_flight_;
  std::size_t n_launches_ = 0;
  std::unique_ptr<Capture> capture_;  // of the thread below
  std::thread::id capturing_;
  std::string loss_;  // text of the first fault; empty while the context lives
};

}  // namespace op2::runtime::gpu
