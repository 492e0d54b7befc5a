// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "runtime/device.hpp"
#include "runtime/gpu/driver.hpp"

namespace op2::runtime::gpu {

/// @brief The GPUs that the driver shows this process, in its order.
/// @throws ExecutionError if the driver does not answer.
[[nodiscard]] std::vector<DeviceInfo> list_devices(const Driver& driver);

/// @brief The same, of a driver that has to find some. @throws ToolchainError if there is none.
[[nodiscard]] std::vector<DeviceInfo> required_devices(const Driver& driver);

}  // namespace op2::runtime::gpu
