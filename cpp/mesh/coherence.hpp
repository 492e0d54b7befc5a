// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/trace.hpp"
#include "mesh/device.hpp"
#include "mesh/transfers.hpp"
#include "mesh/transpose.hpp"

namespace op2::mesh {

class Buffer;

/// @brief The coming use of values.
///
/// `write` promises that every value is overwritten or never read again, so no copy is needed;
/// every other change of values is `read_write`.
enum class Use { read, write, read_write };

/// @brief Where values are valid; `neither`: there are none yet.
enum class Where { neither, host, device, both };

/// @brief One argument of a loop.
struct BufferUse {
  Buffer* buffer = nullptr;
  Use use = Use::read;
  int argument = -1;  ///< for messages and the ledger
};

/// @brief A copy of a range of host memory on one device.
struct DeviceCopy {
  std::shared_ptr<Device> device;
  std::shared_ptr<void> memory;
  bool is_valid = false;
};

/// @brief A range of host memory shared by Buffers, and its copies. Guarded by Coherence.
///
/// Invariants: of overlapping ranges at most one is valid on a device only, and then the others
/// have no valid copies. Every valid copy equals the host's values. Where the host's values are not
/// valid, there is a single valid copy.
struct Memory {
  std::byte* begin = nullptr;
  std::int64_t n_bytes = 0;
  Layout layout;              ///< of the copies; the host's is always AoS
  bool host_is_valid = true;  ///< except where overlapping ranges have newer values on a device
  bool is_zero = false;       ///< unwritten so far: a device need not be sent anything
  int n_buffers = 0;
  std::vector<DeviceCopy> copies;
  std::vector<Memory*> overlapping;
  std::string what;                      ///< owner of the values, for messages: of the first Buffer
  bool is_watched = false;               ///< the host's values may be written without notice
  std::optional<std::uint64_t> witness;  ///< checksum of the host's values since a device took them
  std::uint32_t n_reads = 0;  ///< by the host, of values with a witness, since the last use on a
                              ///< device
};

/// @brief The copy on a device, valid or not; null if there is none.
[[nodiscard]] DeviceCopy* find_copy(Memory& memory, const Device& device);
[[nodiscard]] bool is_valid_on(Memory& memory, const Device& device);

/// @brief The range, @p memory or an overlapping one, whose values are on a device only.
[[nodiscard]] Memory* newer_on_device(Memory& memory);

/// @brief Whether a use on the host, or on a device, copies something first.
[[nodiscard]] bool host_needs_copy(Memory& memory, Use use);
[[nodiscard]] bool device_needs_copy(Memory& memory, const Device& device, Use use);

/// @brief Whether overlapping values that are newer on a device reach beyond this range.
[[nodiscard]] bool overwrite_needs_copy(const Memory& memory);

/// @brief Mark the values valid on @p device only; overlapping ranges are not made newer.
/// @pre Not overwrite_needs_copy(memory); a copy on the device exists.
void mark_written_on_device(Memory& memory, const Device& device);
void mark_written_on_host(Memory& memory);

/// @brief Store a checksum of the host values, if they are watched and a device has taken them. The
/// checksum differs after a later host write through an old array, so the write is detected.
void take_witness(Memory& memory);

/// @brief Whether the host's values have a witness, and were read since the last comparison.
///
/// A pass over all values for each single read would be too slow. So the host compares at the 1st,
/// 2nd, 4th, 8th ... read after a use on a device, and a device compares before a use if the host's
/// last read was without a comparison.
[[nodiscard]] bool has_unseen_reads(const Memory& memory);

/// @brief Whether the host's values have been written since take_witness().
[[nodiscard]] bool is_written_in_vain(const Memory& memory);

/// @brief The copy on a device; a missing copy is allocated, not valid.
/// @param[in] what Owner of the memory, for the message of a full device.
DeviceCopy& ensure_copy(Memory& memory, const std::shared_ptr<Device>& device,
                        std::string_view what);

/// @brief Keeps the Buffers of a program coherent: between host and devices, and with each other
/// where their host memory overlaps. A single mutex guards all, so any thread may call.
///
/// Until values are put on a device, is_active() is false and nobody need ask more.
class Coherence {
 public:
  /// @param[in] trace Notes copies while a profile runs.
  explicit Coherence(std::shared_ptr<Trace> trace = std::make_shared<Trace>())
      : trace_(std::move(trace)) {}

  [[nodiscard]] const std::shared_ptr<Trace>& trace() const { return trace_; }

  [[nodiscard]] bool is_active() const { return is_active_.load(std::memory_order_relaxed); }

  /// @brief Make the arguments of a loop valid on a device, then mark the writes.
  ///
  /// Refused copies change nothing. Nor does a full device: memory for all uses is taken before
  /// anything is copied, and given back if some of it is missing.
  /// @param[out] handles For each use the memory on the device; null for no bytes.
  /// @return Whether anything was copied, and so recorded in transfers().
  /// @throws UsageError after a host write in vain to watched values; the write is lost.
  /// @throws TransferError under is_strict, if something would be copied.
  /// @throws UnsupportedError if a use writes memory that partly overlaps another use's: each has a
  /// separate copy on the device.
  /// @throws OutOfMemoryError if the device is full, with the sizes of all missing copies.
  bool to_device(const std::shared_ptr<Device>& device, std::span<const BufferUse> uses,
                 std::span<void*> handles, const TransferCause& cause);

  /// @brief Make values valid on the host, after waiting for the device, then mark the writes.
  /// @return, @throws As for to_device; ExecutionError if a loop that wrote the values has failed.
  bool to_host(std::span<const BufferUse> uses, const TransferCause& cause);

  /// @brief Whether implicit copies are refused; see to_device.
  std::atomic<bool> is_strict = false;

  /// @brief Watch all values from now on, and compare before each use on a device, too.
  void watch_all(bool is_on);
  [[nodiscard]] bool watches_all() const { return watches_all_.load(std::memory_order_relaxed); }

  /// @brief How often values were compared with their witness, each time by a pass over all of
  /// them.
  [[nodiscard]] std::int64_t n_looks() const { return n_looks_.load(std::memory_order_relaxed); }

  /// @brief Names of all watched values written on the host since a device has taken them. The next
  /// call names none of them again.
  [[nodiscard]] std::vector<std::string> written_in_vain();

  /// @brief Threads that rearrange rows into columns.
  std::atomic<int> n_threads = 1;

  [[nodiscard]] Transfers& transfers() { return transfers_; }

  /// @brief For other copies to devices, not of a Buffer but of a Map, say: record the copy.
  void record(const Device& device, Direction direction, std::string_view what,
              std::int64_t n_bytes, std::int64_t nanoseconds, const TransferCause& cause);

  /// @brief Refuse such a copy.
  /// @throws TransferError under is_strict, unless the cause is explicit.
  void check_allowed(const Device& device, Direction direction, std::string_view what,
                     std::int64_t n_bytes, const TransferCause& cause) const;

 private:
  friend class Buffer;

  // All of these expect the mutex to be held.
  bool settle_on_device(const std::shared_ptr<Device>& device, std::span<const BufferUse> uses,
                        std::span<void*> handles, const TransferCause& cause);
  void check_witness(const Buffer& buffer, const TransferCause& cause);
  void check_before_reading(const Buffer& buffer, const TransferCause& cause);
  static void make_copies(const std::shared_ptr<Device>& device, std::span<const BufferUse> uses,
                          std::string_view where);
  static void check_overlaps(std::span<const BufferUse> uses, std::string_view where);
  void upload(const Buffer& buffer, DeviceCopy& copy, const TransferCause& cause);
  void download(const Buffer& buffer, Memory& memory, const TransferCause& cause);
  void clean(const Buffer& buffer, const TransferCause& cause);
  void clean_before_overwrite(const Buffer& buffer, const TransferCause& cause);
  [[nodiscard]] bool keeps(const Buffer& buffer) const;
  Memory& attached(Buffer& buffer);
  void detach(Buffer& buffer);
  [[nodiscard]] std::vector<Memory*> ranges_overlapping(const Memory& memory) const;

  std::mutex mutex_;
  std::atomic<bool> is_active_ = false;
  std::atomic<bool> watches_all_ = false;
  std::atomic<std::int64_t> n_looks_ = 0;
  std::multimap<std::uintptr_t, std::unique_ptr<Memory>> ranges_;  // by their begin
  std::uintptr_t longest_ = 0;                                     // bytes of any range so far
  Transfers transfers_;
  std::shared_ptr<Trace> trace_;
};

}  // namespace op2::mesh
