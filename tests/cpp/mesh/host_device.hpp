// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "mesh/device.hpp"

namespace op2::mesh {

/// Stands in for a vendor: a device whose memory is the host's, and which counts what it is asked.
class HostDevice : public Device {
 public:
  explicit HostDevice(std::string name = "device") : name_(std::move(name)) {}

  [[nodiscard]] std::string name() const override { return name_; }

  [[nodiscard]] std::shared_ptr<void> allocate(std::int64_t n_bytes,
                                               std::string_view what) override {
    if (n_bytes > free_bytes) throw OutOfMemoryError(fmt::format("{}: no room", what));
    auto memory = std::make_shared<std::vector<std::byte>>(n_bytes, std::byte{0xA5});
    return {memory, memory->data()};
  }

  void upload(void* to, std::int64_t to_offset, const void* from, std::int64_t n_bytes) override {
    std::memcpy(static_cast<std::byte*>(to) + to_offset, from, n_bytes);
    ++n_uploads;
  }

  void download(void* to, const void* from, std::int64_t from_offset,
                std::int64_t n_bytes) override {
    if (!fault.empty()) throw ExecutionError(std::exchange(fault, ""));
    std::memcpy(to, static_cast<const std::byte*>(from) + from_offset, n_bytes);
    ++n_downloads;
  }

  void copy(void* to, std::int64_t to_offset, const void* from, std::int64_t from_offset,
            std::int64_t n_bytes) override {
    std::memmove(static_cast<std::byte*>(to) + to_offset,
                 static_cast<const std::byte*>(from) + from_offset, n_bytes);
    ++n_copies;
  }

  void zero(void* memory, std::int64_t offset, std::int64_t n_bytes) override {
    std::memset(static_cast<std::byte*>(memory) + offset, 0, n_bytes);
    ++n_zeros;
  }

  void finish() override {}

  std::int64_t free_bytes = 1 << 20;
  std::string fault;  ///< thrown by the next download
  int n_uploads = 0;
  int n_downloads = 0;
  int n_copies = 0;
  int n_zeros = 0;

 private:
  std::string name_;
};

}  // namespace op2::mesh
