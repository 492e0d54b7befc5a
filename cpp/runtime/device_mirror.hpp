// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "mesh/coherence.hpp"
#include "mesh/map_table.hpp"
#include "runtime/device.hpp"
#include "runtime/meter.hpp"

namespace op2::runtime {

/// @brief Constant data on a device: Maps and the arrays of plans. Each array is uploaded once for
/// all its loops, and freed when the owner and the last such loop are gone.
class DeviceMirror {
 public:
  /// @param[in] coherence The ledger of the copies, and the keeper of Buffers.
  DeviceMirror(std::shared_ptr<Device> device, std::shared_ptr<mesh::Coherence> coherence);

  [[nodiscard]] const std::shared_ptr<Device>& device() const { return device_; }
  [[nodiscard]] mesh::Coherence& coherence() const { return *coherence_; }

  /// @brief Measures loops on the device.
  [[nodiscard]] Meter& meter() { return meter_; }

  /// @brief The values of @p map as they are now.
  [[nodiscard]] std::shared_ptr<void> map(const std::shared_ptr<const mesh::MapTable>& map,
                                          const mesh::TransferCause& cause);

  /// @brief @p n_bytes at @p data, constant while @p owner lives. Null for no bytes.
  [[nodiscard]] std::shared_ptr<void> array(const std::shared_ptr<const void>& owner,
                                            const void* data, std::int64_t n_bytes,
                                            const mesh::TransferCause& cause);

  /// @brief The number of held copies, for tests.
  [[nodiscard]] std::size_t n_arrays() const;

 private:
  struct Entry {
    std::weak_ptr<const void> owner;  // the address may belong to somebody else since
    std::int64_t version = 0;
    std::int64_t n_bytes = 0;
    std::weak_ptr<void> memory;
  };

  std::shared_ptr<void> find_or_upload(const std::shared_ptr<const void>& owner, const void* data,
                                       std::int64_t n_bytes, std::int64_t version,
                                       std::string_view what, const mesh::TransferCause& cause);
  void forget_the_dead();

  std::shared_ptr<Device> device_;
  std::shared_ptr<mesh::Coherence> coherence_;
  Meter meter_;
  mutable std::mutex mutex_;
  std::unordered_map<const void*, Entry> entries_;  // by the address on the host
  std::size_t n_entries_to_sweep_ = 64;
};

}  // namespace op2::runtime
