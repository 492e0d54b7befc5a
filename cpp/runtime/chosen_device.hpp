// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace op2::runtime {

/// @brief The names by which a user can choose a device.
struct DeviceLabel {
  std::string name;
  std::string platform;
  bool is_cpu = false;
};

/// @brief The number of the device chosen by a user.
/// @param[in] platform Part of the platform's name, in any case; empty: any.
/// @param[in] device The number, or part of the name, in any case; empty: the first device other
/// than a processor, else the first.
/// @throws UsageError if none fits, listing all.
[[nodiscard]] int chosen_device(const std::vector<DeviceLabel>& devices,
                                const std::string& platform, const std::string& device);

}  // namespace op2::runtime
