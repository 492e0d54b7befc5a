// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/gpu/driver.hpp"
#include "runtime/vendors.hpp"

namespace op2::runtime::cuda {

/// NVIDIA's GPUs. All that runs loops there is in runtime/gpu; this fills its table.

/// @brief What people know NVIDIA's driver by.
[[nodiscard]] gpu::Vendor vendor();

/// @brief Where the driver is looked for.
[[nodiscard]] std::vector<std::string> driver_candidates();

/// @brief Find NVIDIA's driver and start it.
/// @param[in] candidates See VendorLibrary.
/// @throws ToolchainError if there is none, it is too old, or it does not start.
[[nodiscard]] gpu::Driver load_driver(const std::vector<std::string>& candidates);

/// @brief CUDA's version as people write it: 13000 is "13.0".
[[nodiscard]] std::string version_text(int version);

/// @brief The name of code for a GPU, as compilers want it: "sm_90".
[[nodiscard]] std::string architecture(int major, int minor);

/// @brief Why a driver of CUDA's @p version may refuse code, and what to do.
[[nodiscard]] std::string advice_on_code(int version);

/// @brief These GPUs, in the driver's order.
extern const DeviceVendor device_vendor;

}  // namespace op2::runtime::cuda
