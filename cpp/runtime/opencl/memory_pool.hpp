// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/opencl/api.hpp"
#include "runtime/opencl/context.hpp"

namespace op2::runtime::opencl {

/// @brief A device's facts about its memory.
struct MemoryLimits {
  std::int64_t n_bytes = 0;         ///< in all
  std::int64_t n_bytes_buffer = 0;  ///< of a single buffer
};

/// @brief Memory of a device, kept for the next request of as much: the driver takes up to
/// milliseconds for an allocation.
///
/// Reuse needs no wait: everything is enqueued in order. Shared with each piece handed out, so
/// pieces may outlive the device.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  MemoryPool(std::shared_ptr<const Api> api, std::shared_ptr<DeviceContext> context,
             const MemoryLimits& limits, std::string device_name);
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;
  ~MemoryPool();

  /// @brief At least @p n_bytes, contents undefined; returned to the pool when dropped.
  /// @throws OutOfMemoryError with @p what, the size and the exceeded limit.
  [[nodiscard]] std::shared_ptr<void> allocate(std::int64_t n_bytes, std::string_view what);

  /// @brief As mesh::Device::limit_memory().
  void limit(std::int64_t n_bytes);

  [[nodiscard]] DeviceContext& context() const { return *context_; }
  [[nodiscard]] std::int64_t used_bytes() const;
  [[nodiscard]] std::int64_t idle_bytes() const;

 private:
  [[nodiscard]] Memory take(std::int64_t n_bytes);
  [[nodiscard]] Memory make(std::int64_t n_bytes);
  [[nodiscard]] std::string limit_hit(std::int64_t n_bytes) const;
  void give_back(Memory memory, std::int64_t n_bytes);
  void trim(std::int64_t n_idle_max);

  std::shared_ptr<const Api> api_;
  std::shared_ptr<DeviceContext> context_;
  MemoryLimits limits_;
  std::int64_t n_allowed_ = 0;  // of limits_.n_bytes
  std::string device_name_;
  mutable std::mutex mutex_;
  std::unordered_map<std::int64_t, std::vector<Memory>> idle_;  // by size
  std::int64_t n_idle_bytes_ = 0;
  std::int64_t n_used_bytes_ = 0;
};

}  // namespace op2::runtime::opencl
