// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/opencl/memory_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace op2::runtime::opencl {
namespace {

// Pieces of nearly one size share a class, so that a Dat a little smaller than the last one fits.
constexpr std::int64_t small_step = 256;
constexpr std::int64_t large_step = std::int64_t{1} << 16;
constexpr std::int64_t large = std::int64_t{1} << 20;

// Of the device's memory, how much may lie idle here while other programs want it.
constexpr std::int64_t idle_share = 8;

std::int64_t size_class(std::int64_t n_bytes) {
  const std::int64_t step = n_bytes < large ? small_step : large_step;
  return (std::max<std::int64_t>(n_bytes, 1) + step - 1) / step * step;
}

double mebibytes(std::int64_t n_bytes) {
  return static_cast<double>(n_bytes) / (1 << 20);
}

}  // namespace

MemoryPool::MemoryPool(std::shared_ptr<const Api> api, std::shared_ptr<DeviceContext> context,
                       const MemoryLimits& limits, std::string device_name)
    : api_(std::move(api)),
      context_(std::move(context)),
      limits_(limits),
      n_allowed_(limits.n_bytes),
      device_name_(std::move(device_name)) {}

MemoryPool::~MemoryPool() {
  trim(0);
}

void MemoryPool::limit(std::int64_t n_bytes) {
  const std::scoped_lock guard(mutex_);
  n_allowed_ = n_bytes == 0 ? limits_.n_bytes : std::min(n_bytes, limits_.n_bytes);
  trim(std::max<std::int64_t>(n_allowed_ - n_used_bytes_, 0));
}

std::int64_t MemoryPool::used_bytes() const {
  const std::scoped_lock guard(mutex_);
  return n_used_bytes_;
}

std::int64_t MemoryPool::idle_bytes() const {
  const std::scoped_lock guard(mutex_);
  return n_idle_bytes_;
}

std::shared_ptr<void> MemoryPool::allocate(std::int64_t n_bytes, std::string_view what) {
  const std::scoped_lock guard(mutex_);
  const std::int64_t size = size_class(n_bytes);
  Memory memory = n_used_bytes_ + size > n_allowed_ ? nullptr : take(size);
  if (memory == nullptr) memory = make(size);
  if (memory == nullptr) {
    throw OutOfMemoryError(fmt::format("{} of {:.1f} MiB does not fit onto {}: {}", what,
                                       mebibytes(n_bytes), device_name_, limit_hit(size)));
  }
  n_used_bytes_ += size;
  return {memory, [pool = shared_from_this(), size](void* handle) {
            pool->give_back(static_cast<Memory>(handle), size);
          }};
}

std::string MemoryPool::limit_hit(std::int64_t n_bytes) const {
  const double all = mebibytes(n_allowed_);
  const std::string whose = n_allowed_ < limits_.n_bytes ? " that init(device_memory=) allows" : "";
  if (n_bytes > limits_.n_bytes_buffer) {
    return fmt::format(
        "its largest single buffer is {:.1f} MiB, of {:.1f} in all; use smaller data, or choose "
        "another device",
        mebibytes(limits_.n_bytes_buffer), all);
  }
  if (n_used_bytes_ + n_bytes > n_allowed_) {
    return fmt::format(
        "of {:.1f} MiB{}, this program uses {:.1f}; use smaller data, drop what is no longer "
        "needed, "
        "or choose another device",
        all, whose, mebibytes(n_used_bytes_));
  }
  return fmt::format(
      "its driver gives no more, though of {:.1f} MiB this program uses {:.1f} only; other "
      "programs "
      "may use the rest: try again, use smaller data, or choose another device",
      all, mebibytes(n_used_bytes_));
}

Memory MemoryPool::take(std::int64_t n_bytes) {
  const auto found = idle_.find(n_bytes);
  if (found == idle_.end() || found->second.empty()) return nullptr;
  Memory memory = found->second.back();
  found->second.pop_back();
  n_idle_bytes_ -= n_bytes;
  return memory;
}

Memory MemoryPool::make(std::int64_t n_bytes) {
  if (n_bytes > limits_.n_bytes_buffer) return nullptr;
  // Drivers give memory lazily and fail much later, in a launch that cannot say for whom.
  if (n_used_bytes_ + n_idle_bytes_ + n_bytes > n_allowed_) trim(0);
  if (n_used_bytes_ + n_bytes > n_allowed_) return nullptr;
  for (int attempt = 0; attempt < 2; ++attempt) {
    Status status = code::success;
    Memory memory = api_->create_buffer(context_->get(), read_write_memory,
                                        static_cast<std::size_t>(n_bytes), nullptr, &status);
    if (status == code::success) return memory;
    trim(0);
  }
  return nullptr;
}

void MemoryPool::give_back(Memory memory, std::int64_t n_bytes) {
  const std::scoped_lock guard(mutex_);
  idle_[n_bytes].push_back(memory);
  n_idle_bytes_ += n_bytes;
  n_used_bytes_ -= n_bytes;
  trim(limits_.n_bytes / idle_share);
}

void MemoryPool::trim(std::int64_t n_idle_max) {
  for (auto& [size, pieces] : idle_) {
    while (n_idle_bytes_ > n_idle_max && !pieces.empty()) {
      api_->release_memory(pieces.back());  // the driver waits for what still uses it
      pieces.pop_back();
      n_idle_bytes_ -= size;
    }
  }
}

}  // namespace op2::runtime::opencl
