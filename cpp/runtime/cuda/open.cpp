// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/cuda/open.hpp"

#include "runtime/cuda/api.hpp"
#include "runtime/cuda/device.hpp"
#include "runtime/cuda/devices.hpp"

namespace op2::runtime::cuda {

std::vector<DeviceInfo> find_devices() {
  return required_devices(load_driver(driver_candidates()));
}

std::shared_ptr<Device> open_device(int index) {
  return std::make_shared<Gpu>(std::make_shared<const Driver>(load_driver(driver_candidates())),
                               index);
}

}  // namespace op2::runtime::cuda
