// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "runtime/device.hpp"

namespace op2::runtime::opencl {

/// @brief The facts reported by each OpenCL device of the machine, in the loader's order.
/// @throws ToolchainError if there is no loader, no platform or no device: the searched names and
/// the package to install.
[[nodiscard]] std::vector<DeviceInfo> list_devices();

/// @brief Open device number @p index of list_devices().
/// @throws ToolchainError as list_devices() does. @throws UsageError if there are fewer devices.
[[nodiscard]] std::shared_ptr<Device> open_device(int index);

}  // namespace op2::runtime::opencl
