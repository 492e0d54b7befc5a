// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/device.hpp"

namespace op2::runtime {

/// @brief One interface by which devices are reached, as data.
struct VendorTable {
  std::string name;  ///< of its folder
  /// What each device says of itself. @throws ToolchainError if there is none.
  std::function<std::vector<DeviceInfo>()> list_devices;
  /// Opens a device by its number in that list. @throws ToolchainError, UsageError
  std::function<std::shared_ptr<Device>(int index)> open_device;
  /// The place among @p targets of the code that runs best on a device of that capability; nothing
  /// if none runs there.
  std::optional<std::size_t> (*fitting)(const std::string& capability,
                                        const std::vector<std::string>& targets);
  /// Makes what Device::load() takes of code that was compiled ahead of time, and the options of
  /// its compiler; null: it is that.
  std::string (*program_of)(const std::string& options, const std::string& code) = nullptr;
};

/// @brief A vendor that is known by its name while it lives.
///
/// Each folder runtime/<name> has one, `op2::runtime::<name>::device_vendor` in `adaptor.cpp`, and
/// nothing else names a vendor. Generated programs name those of their backends, so that a linker
/// takes these adaptors and no others.
class DeviceVendor : public VendorTable {
 public:
  explicit DeviceVendor(VendorTable table);
  DeviceVendor(const DeviceVendor&) = delete;
  DeviceVendor& operator=(const DeviceVendor&) = delete;
  ~DeviceVendor();

  /// @brief What Device::load() takes of code that was compiled ahead of time.
  [[nodiscard]] std::string loadable(const std::string& options, const std::string& code) const {
    return program_of == nullptr ? code : program_of(options, code);
  }
};

/// @brief The vendor of that name. @throws ToolchainError if there is none, listing all.
[[nodiscard]] const DeviceVendor& vendor_named(const std::string& name);

}  // namespace op2::runtime
