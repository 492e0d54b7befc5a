// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/cuda/open.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
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

std::shared_ptr<Device> open_device(int index) {
  return std::make_shared<Gpu>(std::make_shared<const Driver>(load_driver(driver_candidates())),
                               index);
}

}  // namespace op2::runtime::cuda
