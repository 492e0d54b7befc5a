// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "runtime/gpu/context.hpp"

namespace op2::runtime::gpu {

/// @brief The GPU's memory, given out and taken back in the order of the stream.
///
/// Uses the driver's pool where there is one, so that making and dropping a Dat in a time step
/// neither waits nor maps pages. Safe to use from several threads.
class Memory {
 public:
  explicit Memory(std::shared_ptr<Context> context);

  /// @brief At least one byte. The owner may outlive this object; it keeps the Context alive.
  /// @param[in] what Whose it is, for the message.
  /// @throws ExecutionError if the GPU is full: whose, how much, what is free and who has the rest.
  [[nodiscard]] std::shared_ptr<void> allocate(std::int64_t n_bytes, std::string_view what);

 private:
  struct Ledger;
  std::shared_ptr<Ledger> ledger_;  // of what is given out; shared with the owners
};

}  // namespace op2::runtime::gpu
