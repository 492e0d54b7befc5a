// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "mesh/coherence.hpp"

namespace op2::mesh {

/// @brief The values of a Dat or Global: their place, their validity, the number of writes.
///
/// A slot: launches read the addresses when they run. The Python object owns the host memory (a
/// NumPy array) and calls release() when it dies, so loops can hold a Buffer without keeping data
/// alive. All Buffers over one range of host memory share the device memory.
///
/// Without a Coherence the values are on the host for good.
class Buffer {
 public:
  Buffer(void* data, std::int64_t n_bytes) : data_(data), n_bytes_(n_bytes) {}

  /// @param[in] what The name in messages and the ledger: "Dat 'q' on Set 'cells'".
  /// @param[in] layout Of the copies on devices.
  Buffer(std::shared_ptr<Coherence> coherence, std::string what, Layout layout);

  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&&) = delete;
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer();

  /// @brief The values on the host; valid after on_host() only.
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::int64_t n_bytes() const { return n_bytes_; }
  [[nodiscard]] const std::string& what() const { return what_; }
  [[nodiscard]] const Layout& layout() const { return layout_; }

  /// @brief Entities: the length of a column of the SoA layout.
  [[nodiscard]] std::int64_t n_rows() const;

  /// @brief PyOP2's `dat_version`: grows by one with every access that may write.
  [[nodiscard]] std::int64_t version() const { return version_; }
  void increment_version() { ++version_; }

  /// @brief Point at other host memory with valid values (first allocation, or a swap).
  /// @param[in] is_zero All bytes are zero, until version() grows.
  void reset(void* data, std::int64_t n_bytes, bool is_zero = false);

  /// @brief Forget the host memory, about to be freed, and the copies.
  /// @param[in] is_kept Other code will read the memory: download values that are newer on a
  /// device.
  /// @return Whether watched values were written in vain; such a write is lost if a device has
  /// newer values.
  bool release(bool is_kept);

  /// @brief Whether on_host() has to be asked before the host touches data().
  [[nodiscard]] bool is_tracked() const { return coherence_ != nullptr && coherence_->is_active(); }

  /// @brief Make the values valid on the host, then mark the writes; see Coherence::to_host.
  /// @return Whether values were copied.
  bool on_host(Use use, const TransferCause& cause);

  /// @brief Make the values valid on a device, then mark the writes; see Coherence::to_device, the
  /// same for all arguments of a loop at once.
  /// @return The handle; null for no bytes.
  void* on_device(const std::shared_ptr<Device>& device, Use use, const TransferCause& cause);

  [[nodiscard]] bool would_move_to(const Device& device, Use use);
  [[nodiscard]] bool would_move_to_host(Use use);

  [[nodiscard]] Where where();
  [[nodiscard]] bool is_valid_on(const Device& device);

  /// @brief Arrays of the host's values are held that cannot be ended, or no longer are. While they
  /// are held, uses on the host, and uses on a device that copy or end something, throw UsageError
  /// after a write through such an array since a device took the values.
  void watch(bool is_on);

  /// @brief Record that the newest values are on @p device only, in @p memory, in the order of
  /// layout().
  void adopt(const std::shared_ptr<Device>& device, std::shared_ptr<void> memory);

  /// @brief Memory on the device, valid or not, kept alive; null if there is none.
  [[nodiscard]] std::shared_ptr<void> memory_on(const Device& device);

  /// @brief Whether there is memory on a device for the values, valid or not.
  [[nodiscard]] bool has_copies();

  /// @brief Set all values to zero on the device where they are valid.
  /// @return Whether the device could do so; if not, nothing is changed and the host has to write.
  bool zero_on_device();

  /// @brief More bytes are a copy.
  static constexpr std::int64_t most_set_bytes = 256;

  /// @brief Write a few numbers on the host and on a device, where the numbers travel with commands
  /// and without a copy.
  /// @param[in] value As many bytes as the Buffer has: a multiple of 4, at most most_set_bytes.
  /// @throws UsageError for another number of bytes.
  void set_on_device(const std::shared_ptr<Device>& device, std::span<const std::byte> value);

  /// @brief Overwrite the values with those of @p source, of the same layout, on their device.
  /// @return Whether the device could do so; if not, nothing is changed and the host has to copy.
  bool copy_on_device(Buffer& source);

  /// @brief Exchange the device memory with @p source: this Buffer takes the values valid on the
  /// device alone, and leaves its old values to @p source.
  /// @return Whether an exchange was possible; if not, as where other code holds this Buffer's
  /// memory, nothing is changed.
  bool exchange_on_device(Buffer& source);

 private:
  friend class Coherence;
  friend bool bring_to_host(std::span<const BufferUse> uses, const TransferCause& cause);

  void* data_ = nullptr;
  std::int64_t n_bytes_ = 0;
  std::int64_t version_ = 0;
  std::int64_t zero_version_ = -1;  // version at which all bytes were zero
  std::shared_ptr<Coherence> coherence_;
  std::string what_;
  Layout layout_;
  std::int64_t row_bytes_ = 1;
  Memory* memory_ = nullptr;  // owned by coherence_; null before it was needed
};

/// @brief Called by a loop on the host before a run: Coherence::to_host, if there is a Coherence.
/// @pre All Buffers with a Coherence have the same one.
bool bring_to_host(std::span<const BufferUse> uses, const TransferCause& cause);

}  // namespace op2::mesh
