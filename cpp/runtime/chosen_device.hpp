// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace op2::runtime {

/// @brief What a user can mean a device by.
struct DeviceLabel {
  std::string name;
  std::string platform;
  bool is_cpu = false;
};

/// @brief The number of the device that a user means.
/// @param[in] platform Part of the name of its platform, in any case; empty: any.
/// @param[in] device Its number, or part of its name, in any case; empty: the first that is no
/// processor, else the first.
/// @throws UsageError if none fits, listing all.
[[nodiscard]] int chosen_device(const std::vector<DeviceLabel>& devices,
                                const std::string& platform, const std::string& device);

}  // namespace op2::runtime
