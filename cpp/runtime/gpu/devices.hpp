// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "runtime/device.hpp"
#include "runtime/gpu/driver.hpp"
#include "runtime/vendors.hpp"

namespace op2::runtime::gpu {

/// @brief The GPUs visible to this process, in the driver's order.
/// @throws ExecutionError if the driver does not answer.
[[nodiscard]] std::vector<DeviceInfo> list_devices(const Driver& driver);

/// @brief The GPUs of a driver, for a DeviceVendor.
/// @param[in] load Finds and starts the driver. @throws ToolchainError
[[nodiscard]] VendorTable table_of(const char* name, Driver (*load)(),
                                   decltype(VendorTable::fitting) fitting);

}  // namespace op2::runtime::gpu
