// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mesh/buffer.hpp"

namespace op2::mesh {

/// @brief Watched memory of a device before and behind a Buffer's copy there.
///
/// The copy lies inside of a larger piece of memory, so a loop that writes outside of the values
/// changes the bytes around.
class Guard {
 public:
  /// @brief Bytes before and behind: the offset of a part suits all devices.
  static constexpr std::int64_t n_bytes = 4096;

  /// @brief Give @p buffer a copy on @p device between guards. The values stay valid on the host,
  /// and are copied by the next use on the device.
  /// @throws OutOfMemoryError if the device is full.
  Guard(Buffer& buffer, const std::shared_ptr<Device>& device);

  /// @brief Changed bytes before and behind the values, after waiting for the device.
  /// @throws ExecutionError if an earlier loop has failed.
  [[nodiscard]] std::int64_t n_changed() const;

 private:
  std::shared_ptr<Device> device_;
  std::shared_ptr<void> whole_;
  std::int64_t n_inside_ = 0;
};

}  // namespace op2::mesh
