// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jit/device_compiler.hpp"
#include "runtime/device.hpp"

namespace op2::runtime::opencl {

/// @brief What each OpenCL device of this machine says of itself, in the loader's order.
/// @throws ToolchainError if there is no loader, no platform or no device: what was looked for and
/// what to install.
[[nodiscard]] std::vector<DeviceInfo> list_devices();

/// @brief A device and the compiler of its driver.
struct OpenedDevice {
  std::shared_ptr<Device> device;
  std::shared_ptr<jit::DeviceCompiler> compiler;
};

/// @brief Open device number @p index of list_devices().
/// @throws ToolchainError as list_devices() does. @throws UsageError if there are fewer devices.
[[nodiscard]] OpenedDevice open_device(int index);

}  // namespace op2::runtime::opencl
