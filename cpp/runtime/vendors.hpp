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

/// @brief An interface to devices, as data.
struct VendorTable {
  std::string name;  ///< of its folder
  /// The facts reported by each device. @throws ToolchainError if there is none.
  std::function<std::vector<DeviceInfo>()> list_devices;
  /// Opens a device by its number in the list. @throws ToolchainError, UsageError
  std::function<std::shared_ptr<Device>(int index)> open_device;
  /// The place among @p targets of the best code for a device of @p capability; nothing if none
  /// runs there.
  std::optional<std::size_t> (*fitting)(const std::string& capability,
                                        const std::vector<std::string>& targets);
  /// Makes the input of Device::load() from code compiled ahead of time, and the options of its
  /// compiler; null: the code itself.
  std::string (*program_of)(const std::string& options, const std::string& code) = nullptr;
};

/// @brief A vendor, known by name while the object lives.
///
/// Each folder runtime/<name> has an `op2::runtime::<name>::device_vendor` in `adaptor.cpp`, and no
/// other place names a vendor. Generated programs name the vendors of their backends, so a linker
/// takes these adaptors and no others.
class DeviceVendor : public VendorTable {
 public:
  explicit DeviceVendor(VendorTable table);
  DeviceVendor(const DeviceVendor&) = delete;
  DeviceVendor& operator=(const DeviceVendor&) = delete;
  ~DeviceVendor();

  /// @brief The input of Device::load() for code compiled ahead of time.
  [[nodiscard]] std::string loadable(const std::string& options, const std::string& code) const {
    return program_of == nullptr ? code : program_of(options, code);
  }
};

/// @brief The vendor of a name. @throws ToolchainError if there is none, listing all.
[[nodiscard]] const DeviceVendor& vendor_named(const std::string& name);

}  // namespace op2::runtime
