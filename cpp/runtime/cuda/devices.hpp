// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "runtime/cuda/api.hpp"
#include "runtime/device.hpp"

namespace op2::runtime::cuda {

/// @brief The GPUs that the driver shows this process, in its order.
/// @throws ExecutionError if the driver does not answer.
[[nodiscard]] std::vector<DeviceInfo> list_devices(const Driver& driver);

/// @brief The name of code for a GPU, as compilers want it: "sm_90".
[[nodiscard]] std::string architecture(int major, int minor);

}  // namespace op2::runtime::cuda
