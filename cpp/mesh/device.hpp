// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace op2::mesh {

/// @brief The way of other libraries in the process to a device's memory: the place, in DLPack's
/// words, and the stream of all commands.
struct ExchangePlace {
  int device_type = 0;  ///< 2: CUDA; 0: they cannot
  int device_id = 0;
  std::uintptr_t stream = 0;  ///< the vendor's handle
};

/// @brief A device as seen by owners of copies there; implemented in runtime/<vendor>.
///
/// Everything is enqueued in order: an upload, a launch and a download in sequence need no wait
/// between them.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  /// @brief The name in messages.
  [[nodiscard]] virtual std::string name() const = 0;

  /// @brief Where other libraries find the memory; handles are then addresses.
  [[nodiscard]] virtual ExchangePlace exchange_place() const { return {}; }

  /// @brief Let later commands wait for the work that another library has enqueued in a separate
  /// stream.
  virtual void wait_for_stream(std::uintptr_t /*stream*/) {}

  /// @brief Memory of at least one byte, contents undefined. get() is the handle for launches;
  /// dropping the pointer frees the memory after the work enqueued so far.
  /// @param[in] what Owner of the memory, for the message: "Dat 'q'".
  /// @throws OutOfMemoryError with @p what, the size and the free memory, if the device is full.
  [[nodiscard]] virtual std::shared_ptr<void> allocate(std::int64_t n_bytes,
                                                       std::string_view what) = 0;

  /// @brief A handle for a part of memory from allocate(), and keeps the whole alive. Here the
  /// address inside, where handles are addresses.
  /// @param[in] offset A multiple of 4096.
  [[nodiscard]] virtual std::shared_ptr<void> part_of(const std::shared_ptr<void>& whole,
                                                      std::int64_t offset,
                                                      std::int64_t /*n_bytes*/) {
    return {whole, static_cast<std::byte*>(whole.get()) + offset};
  }

  /// @brief Let allocate() give no more than @p n_bytes at a time; 0: all of the device's memory.
  /// Memory given out before stays.
  virtual void limit_memory(std::int64_t /*n_bytes*/) {}

  /// @brief Copy @p n_bytes to the device. The host memory may be changed on return.
  virtual void upload(void* to, std::int64_t to_offset, const void* from, std::int64_t n_bytes) = 0;

  /// @brief Copy @p n_bytes to the host, after waiting for the work enqueued so far.
  /// @throws ExecutionError if an earlier loop has failed, with the name of the loop.
  virtual void download(void* to, const void* from, std::int64_t from_offset,
                        std::int64_t n_bytes) = 0;

  /// @brief Copy within the device.
  virtual void copy(void* to, std::int64_t to_offset, const void* from, std::int64_t from_offset,
                    std::int64_t n_bytes) = 0;

  /// @brief Set every byte to zero.
  virtual void zero(void* memory, std::int64_t offset, std::int64_t n_bytes) = 0;

  /// @brief Set memory to a few numbers known to the host: they travel with commands, not as a
  /// copy.
  /// @param[in] value A multiple of 4 bytes.
  virtual void set(void* memory, std::span<const std::byte> value) {
    upload(memory, 0, value.data(), static_cast<std::int64_t>(value.size()));
  }

  /// @brief Wait for all work.
  /// @throws ExecutionError if a loop has failed, with the name of the loop.
  virtual void finish() = 0;
};

}  // namespace op2::mesh
