// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jit/device_compiler.hpp"
#include "runtime/device.hpp"

namespace op2::runtime::cuda {

/// @brief What each NVIDIA GPU of this machine says of itself, in the driver's order.
/// @throws ToolchainError if there is no driver or no GPU: what was looked for and what to install.
[[nodiscard]] std::vector<DeviceInfo> find_devices();

/// @brief A GPU and the compiler that makes code for it.
struct OpenedDevice {
  std::shared_ptr<Device> device;
  std::shared_ptr<jit::DeviceCompiler> compiler;
};

/// @brief Open GPU number @p index of find_devices().
/// @param[in] nvrtc_folders Where packages keep NVRTC, after the usual places.
/// @throws ToolchainError if there is no driver, no GPU or no NVRTC. @throws UsageError if there
/// are fewer GPUs.
[[nodiscard]] OpenedDevice open_device(int index, const std::vector<std::string>& nvrtc_folders);

/// @brief The compiler alone, for which no GPU is needed.
/// @param[in] architecture "sm_90".
/// @throws ToolchainError if there is no NVRTC, or it does not make code for @p architecture.
[[nodiscard]] std::shared_ptr<jit::DeviceCompiler> make_compiler(
    const std::string& architecture, const std::vector<std::string>& nvrtc_folders);

}  // namespace op2::runtime::cuda
