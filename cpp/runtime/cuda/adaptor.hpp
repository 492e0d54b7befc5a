// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/gpu/driver.hpp"
#include "runtime/vendors.hpp"

namespace op2::runtime::cuda {

/// NVIDIA's GPUs. The code that runs loops is in runtime/gpu; this room fills its table.

/// @brief The names around NVIDIA's driver.
[[nodiscard]] gpu::Vendor vendor();

/// @brief Where the driver is looked for.
[[nodiscard]] std::vector<std::string> driver_candidates();

/// @brief Find NVIDIA's driver and start the driver.
/// @param[in] candidates See VendorLibrary.
/// @throws ToolchainError if the driver is missing, too old, or does not start.
[[nodiscard]] gpu::Driver load_driver(const std::vector<std::string>& candidates);

/// @brief CUDA's version in the usual form: 13000 is "13.0".
[[nodiscard]] std::string version_text(int version);

/// @brief The compilers' name of code for a GPU: "sm_90".
[[nodiscard]] std::string architecture(int major, int minor);

/// @brief Why a driver of CUDA's @p version may refuse code, and the remedy.
[[nodiscard]] std::string advice_on_code(int version);

/// @brief NVIDIA's GPUs, in the driver's order.
extern const DeviceVendor device_vendor;

}  // namespace op2::runtime::cuda
