// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "mesh/coherence.hpp"

namespace op2::mesh {

/// @brief The values of a Dat or Global: where they are, where they are valid, how often written.
///
/// A slot: launches read the addresses when they run. The Python object owns the host memory (a
/// NumPy array), so that loops can hold a Buffer without keeping data alive; it calls release()
/// when it dies. Device memory is shared by all Buffers over one range of host memory.
///
/// Without a Coherence the values are on the host for good.
class Buffer {
 public:
  Buffer(void* data, std::int64_t n_bytes) : data_(data), n_bytes_(n_bytes) {}

  /// @param[in] what Messages and the ledger call it that: "Dat 'q' on Set 'cells'".
  /// @param[in] layout Of its copies on devices.
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

  /// @brief Point at other host memory, whose values are valid (first allocation, or a swap).
  /// @param[in] is_zero All bytes are zero, as long as version() says that nobody has written.
  void reset(void* data, std::int64_t n_bytes, bool is_zero = false);

  /// @brief The host memory is going: forget it and the copies.
  /// @param[in] is_kept Someone else will read that memory: download what is newer on a device.
  /// @return Whether somebody wrote to watched values in vain, which is gone if they are newer
  /// there.
  bool release(bool is_kept);

  /// @brief Whether on_host() has to be asked before the host touches data().
  [[nodiscard]] bool is_tracked() const { return coherence_ != nullptr && coherence_->is_active(); }

  /// @brief Make the values valid on the host, then mark what is written; see Coherence::to_host.
  /// @return Whether something was copied.
  bool on_host(Use use, const TransferCause& cause);

  /// @brief Make the values valid on a device, then mark what is written; see
  /// Coherence::to_device, which does this for all arguments of a loop at once.
  /// @return The handle; null for no bytes.
  void* on_device(const std::shared_ptr<Device>& device, Use use, const TransferCause& cause);

  [[nodiscard]] bool would_move_to(const Device& device, Use use);
  [[nodiscard]] bool would_move_to_host(Use use);

  [[nodiscard]] Where where();
  [[nodiscard]] bool is_valid_on(const Device& device);

  /// @brief Arrays of the host's values are held that cannot be ended, or are no longer: while
  /// they are, uses on the host, and those on a device that copy or end something, throw UsageError
  /// if somebody has written through them since a device took the values.
  void watch(bool is_on);

  /// @brief The newest values are on @p device only, in @p memory, laid out as layout() says.
  void adopt(const std::shared_ptr<Device>& device, std::shared_ptr<void> memory);

  /// @brief Memory on the device, valid or not; keeps it alive. Null if there is none.
  [[nodiscard]] std::shared_ptr<void> memory_on(const Device& device);

  /// @brief Whether there is memory on a device for the values, valid or not.
  [[nodiscard]] bool has_copies();

  /// @brief Set all values to zero on the device where they are valid.
  /// @return Whether that was possible; if not, nothing is changed and the host has to do it.
  bool zero_on_device();

  /// @brief More bytes are a copy.
  static constexpr std::int64_t most_set_bytes = 256;

  /// @brief Write a few numbers on the host and on a device, where they go with commands and no
  /// copy.
  /// @param[in] value As many bytes as the Buffer has: a multiple of 4, at most most_set_bytes.
  /// @throws UsageError if it has another number of bytes.
  void set_on_device(const std::shared_ptr<Device>& device, std::span<const std::byte> value);

  /// @brief Overwrite the values with those of @p source, of the same layout, on the device where
  /// they are.
  /// @return Whether that was possible; if not, nothing is changed and the host has to do it.
  bool copy_on_device(Buffer& source);

  /// @brief Take the values that @p source has on the device alone, and leave it those that were
  /// here: the two change memory there.
  /// @return Whether that was possible; if not, as where somebody else holds this one's memory,
  /// nothing is changed.
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

/// @brief What a loop on the host calls before it runs: Coherence::to_host, if there is one.
/// @pre All Buffers that have a Coherence have the same one.
bool bring_to_host(std::span<const BufferUse> uses, const TransferCause& cause);

}  // namespace op2::mesh
