// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/cuda/open.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "jit/nvrtc/compiler.hpp"
#include "runtime/cuda/api.hpp"
#include "runtime/cuda/device.hpp"
#include "runtime/cuda/devices.hpp"

namespace op2::runtime::cuda {

std::vector<DeviceInfo> find_devices() {
  const Driver driver = load_driver(driver_candidates());
  std::vector<DeviceInfo> devices = list_devices(driver);
  if (devices.empty()) {
    throw ToolchainError(
        fmt::format("NVIDIA's driver at {} finds no GPU; see what nvidia-smi says, and whether "
                    "CUDA_VISIBLE_DEVICES hides it",
                    driver.path),
        "", "", "");
  }
  return devices;
}

OpenedDevice open_device(int index, const std::vector<std::string>& nvrtc_folders) {
  const auto driver = std::make_shared<const Driver>(load_driver(driver_candidates()));
  OpenedDevice opened;
  opened.device = std::make_shared<Gpu>(driver, index);
  opened.compiler = make_compiler(opened.device->info().capability, nvrtc_folders);
  return opened;
}

std::shared_ptr<jit::DeviceCompiler> make_compiler(const std::string& architecture,
                                                   const std::vector<std::string>& nvrtc_folders) {
  using jit::nvrtc::candidates;
  const auto library = std::make_shared<const jit::nvrtc::Library>(
      jit::nvrtc::load_library(candidates(nvrtc_folders)));
  return std::make_shared<jit::nvrtc::Compiler>(library, architecture);
}

}  // namespace op2::runtime::cuda
