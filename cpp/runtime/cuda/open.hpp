// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "runtime/device.hpp"

namespace op2::runtime::cuda {

/// @brief What each NVIDIA GPU of this machine says of itself, in the driver's order.
/// @throws ToolchainError if there is no driver or no GPU: what was looked for and what to install.
[[nodiscard]] std::vector<DeviceInfo> find_devices();

/// @brief Open GPU number @p index of find_devices().
/// @throws ToolchainError if there is no driver or no GPU. @throws UsageError if there are fewer
/// GPUs.
[[nodiscard]] std::shared_ptr<Device> open_device(int index);

}  // namespace op2::runtime::cuda
