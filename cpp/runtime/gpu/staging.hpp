// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>

#include "runtime/gpu/context.hpp"

namespace op2::runtime::gpu {

/// @brief Large copies between the GPU and ordinary memory, through page-locked memory of our own.
///
/// The driver's copies of ordinary memory go through one buffer on one core, at a fraction of the
/// bus's speed. Here several threads fill a chunk while the GPU reads the other. Safe to use from
/// several threads, which take turns.
class Staging {
 public:
  explicit Staging(std::shared_ptr<Context> context);
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging();

  /// @brief Below, staging does not pay.
  static constexpr std::size_t least_bytes = std::size_t{64} << 20;

  /// @brief Copy to the GPU in the order of the stream; `from` may be changed on return.
  /// @return The first failure. @note The Context is the calling thread's.
  [[nodiscard]] Result upload(DeviceAddress to, const void* from, std::size_t n_bytes);
  /// @brief Copy to the host, after the work enqueued so far.
  /// @return The first failure. @note The Context is the calling thread's.
  [[nodiscard]] Result download(void* to, DeviceAddress from, std::size_t n_bytes);

 private:
  static constexpr std::size_t chunk_bytes = std::size_t{16} << 20;
  static constexpr std::size_t n_chunks = 3;

  struct Chunk {
    void* memory = nullptr;
    EventHandle done = nullptr;  // the last copy from or to the chunk
  };

  [[nodiscard]] Result prepare();
  [[nodiscard]] Result drain(void* to, std::size_t begin, std::size_t n_bytes);

  void copy_in_parallel(void* to, const void* from, std::size_t n_bytes) const;

  std::shared_ptr<Context> context_;
  int n_threads_;
  std::mutex mutex_;  // held for a whole copy
  std::array<Chunk, n_chunks> chunks_;
};

}  // namespace op2::runtime::gpu
