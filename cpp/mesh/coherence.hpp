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

/// @brief What someone is about to do with values.
///
/// `write` promises that every value is overwritten or never read again, so that nothing need be
/// copied; everything else that changes values is `read_write`.
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

/// @brief A range of host memory that some Buffers share, and its copies. Guarded by Coherence.
///
/// What always holds: of ranges that overlap at most one is valid on a device only, and while it
/// is, the others have no valid copies. Every valid copy equals the host's values, or, where those
/// are not valid, is the only one.
struct Memory {
  std::byte* begin = nullptr;
  std::int64_t n_bytes = 0;
  Layout layout;              ///< of the copies; the host's is always AoS
  bool host_is_valid = true;  ///< but for what overlapping ranges have newer on a device
  bool is_zero = false;       ///< nobody has written yet: a device need not be sent anything
  int n_buffers = 0;
  std::vector<DeviceCopy> copies;
  std::vector<Memory*> overlapping;
  std::string what;         ///< whose values they are, for messages: of the first Buffer
  bool is_watched = false;  ///< others may write to the host's values without a word
  std::optional<std::uint64_t> witness;  ///< of the host's values since a device took them
  std::uint32_t n_reads = 0;  ///< by the host, of values with a witness, since a device used them
};

/// @brief The copy on a device, valid or not; null if there is none.
[[nodiscard]] DeviceCopy* find_copy(Memory& memory, const Device& device);
[[nodiscard]] bool is_valid_on(Memory& memory, const Device& device);

/// @brief The range among this one and those that overlap it whose values are on a device only.
[[nodiscard]] Memory* newer_on_device(Memory& memory);

/// @brief Whether a use on the host, or on a device, copies something first.
[[nodiscard]] bool host_needs_copy(Memory& memory, Use use);
[[nodiscard]] bool device_needs_copy(Memory& memory, const Device& device, Use use);

/// @brief Whether overlapping values that are newer on a device reach beyond this range.
[[nodiscard]] bool overwrite_needs_copy(const Memory& memory);

/// @brief From now on the values are valid there only; those that overlap are none the newer.
/// @pre Not overwrite_needs_copy(memory); a copy on the device exists.
void mark_written_on_device(Memory& memory, const Device& device);
void mark_written_on_host(Memory& memory);

/// @brief Remember what the host's values are, if they are watched and a device has taken them:
/// who still has an array of them writes in vain from now on.
void take_witness(Memory& memory);

/// @brief Whether the host's values, which have a witness, have been read since somebody looked.
///
/// Who reads one value after the other must not pay a pass over all for each: the host looks when
/// it reads them the 1st, 2nd, 4th, 8th ... time after a device has used them, and a device looks
/// before it uses them if the host has not looked since it read last.
[[nodiscard]] bool has_unseen_reads(const Memory& memory);

/// @brief Whether somebody has written to the host's values since.
[[nodiscard]] bool is_written_in_vain(const Memory& memory);

/// @brief The copy on a device, allocated but not valid if there was none.
/// @param[in] what Whose memory it is, for the message of a full device.
DeviceCopy& ensure_copy(Memory& memory, const std::shared_ptr<Device>& device,
                        std::string_view what);

/// @brief Keeps the Buffers of one program coherent: between host and devices, and with each other
/// where their host memory overlaps. One mutex guards it, so any thread may call.
///
/// As long as nothing was ever put on a device, is_active() is false and nobody need ask more.
class Coherence {
 public:
  /// @param[in] trace What copies are noted in while somebody profiles.
  explicit Coherence(std::shared_ptr<Trace> trace = std::make_shared<Trace>())
      : trace_(std::move(trace)) {}

  [[nodiscard]] const std::shared_ptr<Trace>& trace() const { return trace_; }

  [[nodiscard]] bool is_active() const { return is_active_.load(std::memory_order_relaxed); }

  /// @brief Make the arguments of a loop valid on a device, then mark what it writes.
  ///
  /// Refused copies change nothing, and a device that is full leaves all values valid where they
  /// were.
  /// @param[out] handles One for each use: the memory on the device; null for no bytes.
  /// @return Whether anything was copied, and so recorded in transfers().
  /// @throws UsageError if somebody wrote to watched values in vain; what was written is gone.
  /// @throws TransferError under is_strict, if something would be copied.
  /// @throws UnsupportedError if a use writes memory that overlaps another use's in part: each has
  /// a copy of its own on the device.
  /// @throws ExecutionError if the device is full.
  bool to_device(const std::shared_ptr<Device>& device, std::span<const BufferUse> uses,
                 std::span<void*> handles, const TransferCause& cause);

  /// @brief Make values valid on the host, waiting for the device, then mark what is written.
  /// @return, @throws As for to_device; ExecutionError if a loop that wrote them has failed.
  bool to_host(std::span<const BufferUse> uses, const TransferCause& cause);

  /// @brief Whether implicit copies are refused; see to_device.
  std::atomic<bool> is_strict = false;

  /// @brief Watch all values from now on, and look at them before each use on a device, too.
  void watch_all(bool is_on);
  [[nodiscard]] bool watches_all() const { return watches_all_.load(std::memory_order_relaxed); }

  /// @brief How often values were compared with their witness, a pass over all of them each.
  [[nodiscard]] std::int64_t n_looks() const { return n_looks_.load(std::memory_order_relaxed); }

  /// @brief Whose values were written on the host since a device has taken them, of all that are
  /// watched. The next call names none of them again.
  [[nodiscard]] std::vector<std::string> written_in_vain();

  /// @brief Threads that rearrange rows into columns.
  std::atomic<int> n_threads = 1;

  [[nodiscard]] Transfers& transfers() { return transfers_; }

  /// @brief For others who copy to devices: record the copy of what is no Buffer, such as a Map.
  void record(const Device& device, Direction direction, std::string_view what,
              std::int64_t n_bytes, std::int64_t nanoseconds, const TransferCause& cause);

  /// @brief Refuse that copy.
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
