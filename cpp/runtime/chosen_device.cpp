// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/chosen_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>

#include "base/error.hpp"

namespace op2::runtime {
namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool has(const std::string& name, const std::string& part) {
  return lower(name).find(lower(part)) != std::string::npos;
}

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

[[noreturn]] void refuse(const std::vector<DeviceLabel>& devices, const std::string& platform,
                         const std::string& device) {
  std::string wanted = device.empty() ? "" : fmt::format("device '{}'", device);
  if (!platform.empty()) {
    wanted += fmt::format("{}platform '{}'", wanted.empty() ? "" : " on ", platform);
  }
  std::string all;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    all +=
        fmt::format("{}{}: {} ({})", i == 0 ? "" : ", ", i, devices[i].name, devices[i].platform);
  }
  throw UsageError(
      fmt::format("options 'device' and 'platform': there is no {}; there are: {}", wanted, all));
}

}  // namespace

int chosen_device(const std::vector<DeviceLabel>& devices, const std::string& platform,
                  const std::string& device) {
  if (devices.empty()) throw UsageError("option 'device': there is no device");
  std::optional<int> found;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const bool is_meant =
        is_number(device) ? std::to_string(i) == device : has(devices[i].name, device);
    if (!is_meant || !has(devices[i].platform, platform)) continue;
    if (!devices[i].is_cpu) return static_cast<int>(i);
    if (!found) found = static_cast<int>(i);
  }
  if (!found) refuse(devices, platform, device);
  return *found;
}

}  // namespace op2::runtime
