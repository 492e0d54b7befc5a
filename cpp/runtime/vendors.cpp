// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/vendors.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "base/error.hpp"

namespace op2::runtime {
namespace {

/// Filled before main(). Never destroyed: vendors of other units may go later.
std::map<std::string, const DeviceVendor*>& all_vendors() {
  static auto& all = *new std::map<std::string, const DeviceVendor*>;
  return all;
}

}  // namespace

DeviceVendor::DeviceVendor(VendorTable table) : VendorTable(std::move(table)) {
  all_vendors().emplace(name, this);
}

DeviceVendor::~DeviceVendor() {
  all_vendors().erase(name);
}

const DeviceVendor& vendor_named(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, vendor] : all_vendors()) {
    if (known == name) return *vendor;
    names.push_back(known);
  }
  throw ToolchainError(fmt::format("there is no adaptor for devices of '{}'; there are: {}", name,
                                   fmt::join(names, ", ")),
                       "", "", "");
}

}  // namespace op2::runtime
