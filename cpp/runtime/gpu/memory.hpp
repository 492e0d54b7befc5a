// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "runtime/gpu/context.hpp"

namespace op2::runtime::gpu {

/// @brief The GPU's memory, given out and taken back in the order of the stream.
///
/// Uses the driver's pool where there is a pool, so making and dropping a Dat in a time step
/// neither waits nor maps pages. Safe to use from several threads.
class Memory {
 public:
  explicit Memory(std::shared_ptr<Context> context);

  /// @brief At least one byte. The owner may outlive this object; it keeps the Context alive.
  /// @param[in] what The name of the owner, for the message.
  /// @throws OutOfMemoryError if the GPU is full: the owner, the size, the free memory and the
  /// holders of the rest.
  [[nodiscard]] std::shared_ptr<void> allocate(std::int64_t n_bytes, std::string_view what);

  /// @brief As mesh::Device::limit_memory().
  void limit(std::int64_t n_bytes);

 private:
  struct Ledger;
  std::shared_ptr<Ledger> ledger_;  // of the memory given out; shared with the owners
};

}  // namespace op2::runtime::gpu
