// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/opencl/adaptor.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "runtime/opencl/device.hpp"
#include "runtime/opencl/known_text.hpp"

namespace op2::runtime::opencl {
namespace {

/// One text serves all devices.
std::optional<std::size_t> the_text(const std::string& /*capability*/,
                                    const std::vector<std::string>& targets) {
  return targets.empty() ? std::nullopt : std::optional<std::size_t>(0);
}

std::string program_of(const std::string& options, const std::string& text) {
  return bytes_of({options, text});
}

}  // namespace

const DeviceVendor device_vendor({"opencl", list_devices, open_device, the_text, program_of});

}  // namespace op2::runtime::opencl
