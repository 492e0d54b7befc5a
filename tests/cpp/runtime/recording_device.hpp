// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "runtime/device.hpp"

namespace op2::runtime::testing {

/// A kernel that does nothing but have a name.
class RecordedKernel : public DeviceKernel {
 public:
  RecordedKernel(std::string name, int max_lanes) : name_(std::move(name)), max_lanes_(max_lanes) {}
  [[nodiscard]] int max_lanes() const override { return max_lanes_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
  int max_lanes_;
};

class RecordedProgram : public Program {
 public:
  explicit RecordedProgram(int max_lanes = 1024) : max_lanes_(max_lanes) {}
  [[nodiscard]] DeviceKernel& kernel(const std::string& name) override {
    auto& kept = kernels_[name];
    if (!kept) kept = std::make_unique<RecordedKernel>(name, max_lanes_);
    return *kept;
  }

 private:
  int max_lanes_;
  std::map<std::string, std::unique_ptr<RecordedKernel>> kernels_;
};

/// Done once the device was waited for.
class RecordedSpan : public DeviceSpan {
 public:
  explicit RecordedSpan(const int* n_waits) : n_waits_(n_waits), n_before_(*n_waits) {}
  [[nodiscard]] std::optional<Interval> measured() override {
    if (*n_waits_ == n_before_) return std::nullopt;
    return Interval{0, nanoseconds};
  }
  std::int64_t nanoseconds = 0;

 private:
  const int* n_waits_;
  int n_before_;
};

/// A stand-in for a vendor: its memory is the host's, and launches are only written down.
class RecordingDevice : public Device {
 public:
  struct Launched {
    std::string kernel;
    Grid grid;
    std::vector<LaunchArgument> arguments;
    std::string loop;
  };

  explicit RecordingDevice(DeviceInfo info = {}) : info_(std::move(info)) {}

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] std::string name() const override { return "recorder"; }
  [[nodiscard]] std::shared_ptr<Program> load(const std::string& binary) override {
    loaded.push_back(binary);
    return std::make_shared<RecordedProgram>();
  }
  [[nodiscard]] std::shared_ptr<void> allocate(std::int64_t n_bytes, std::string_view) override {
    ++n_allocations;
    n_bytes_allocated += n_bytes;
    auto memory = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(n_bytes) + 1,
                                                           std::byte{0xab});
    return {memory, memory->data()};
  }
  void upload(void* to, std::int64_t to_offset, const void* from, std::int64_t n_bytes) override {
    ++n_uploads;
    std::memcpy(static_cast<std::byte*>(to) + to_offset, from, static_cast<std::size_t>(n_bytes));
  }
  void download(void* to, const void* from, std::int64_t from_offset,
                std::int64_t n_bytes) override {
    ++n_downloads;
    std::memcpy(to, static_cast<const std::byte*>(from) + from_offset,
                static_cast<std::size_t>(n_bytes));
  }
  void copy(void* to, std::int64_t to_offset, const void* from, std::int64_t from_offset,
            std::int64_t n_bytes) override {
    std::memcpy(static_cast<std::byte*>(to) + to_offset,
                static_cast<const std::byte*>(from) + from_offset,
                static_cast<std::size_t>(n_bytes));
  }
  void zero(void* memory, std::int64_t offset, std::int64_t n_bytes) override {
    std::memset(static_cast<std::byte*>(memory) + offset, 0, static_cast<std::size_t>(n_bytes));
  }
  void finish() override { ++n_waits; }
  void launch(DeviceKernel& kernel, const Grid& grid, std::span<const LaunchArgument> arguments,
              const std::string& loop, DeviceSpan* span) override {
    if (span != nullptr) static_cast<RecordedSpan*>(span)->nanoseconds += nanoseconds_a_launch;
    launches.push_back({static_cast<RecordedKernel&>(kernel).name(),
                        grid,
                        {arguments.begin(), arguments.end()},
                        loop});
  }

  using Device::launch;
  void start_clock() override { ++n_clocks; }
  void stop_clock() override { --n_clocks; }
  [[nodiscard]] std::unique_ptr<DeviceSpan> open_span() override {
    return n_clocks > 0 ? std::make_unique<RecordedSpan>(&n_waits) : nullptr;
  }

  std::vector<Launched> launches;
  std::vector<std::string> loaded;
  std::int64_t nanoseconds_a_launch = 1000;
  int n_clocks = 0;
  int n_allocations = 0;
  std::int64_t n_bytes_allocated = 0;
  int n_uploads = 0;
  int n_downloads = 0;
  int n_waits = 0;

 private:
  DeviceInfo info_;
};

}  // namespace op2::runtime::testing
