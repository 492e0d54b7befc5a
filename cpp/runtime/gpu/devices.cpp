// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/small_file.hpp"
#include "runtime/gpu/device.hpp"

namespace op2::runtime::gpu {
namespace {

void check(const Driver& driver, Result result, const char* doing) {
  if (result == success) return;
  throw ExecutionError(
      fmt::format("{} cannot {}: {}", driver.vendor.driver, doing, describe(driver, result)));
}

/// The driver's own version where the kernel tells it, and that of its functions.
std::string driver_version(const Driver& driver) {
  int version = 0;
  check(driver, driver.driver_get_version(&version), "tell its version");
  const Vendor& vendor = driver.vendor;
  const std::string of_functions = fmt::format("{} {}", vendor.platform, vendor.version(version));
  std::string own = text_of_file(std::string(vendor.own_version));
  own.erase(std::min(own.find_first_of(" \n"), own.size()));
  return own.empty() ? of_functions : fmt::format("{} ({})", own, of_functions);
}

DeviceInfo describe_device(const Driver& driver, int index, const std::string& version) {
  DeviceOrdinal ordinal = 0;
  check(driver, driver.device_get(&ordinal, index), "find a GPU");
  const auto attribute = [&driver, ordinal](DeviceAttribute which) {
    int value = 0;
    check(driver, driver.device_get_attribute(&value, which, ordinal), "describe a GPU");
    return value;
  };
  std::array<char, 256> name = {};
  check(driver, driver.device_get_name(name.data(), static_cast<int>(name.size()), ordinal),
        "name a GPU");
  std::size_t n_bytes = 0;
  check(driver, driver.device_total_mem(&n_bytes, ordinal), "tell a GPU's memory");
  DeviceInfo info;
  info.backend = driver.vendor.backend;
  info.platform = driver.vendor.platform;
  info.name = name.data();
  info.driver = version;
  info.capability = driver.vendor.architecture(ordinal, attribute(compute_capability_major),
                                               attribute(compute_capability_minor));
  info.memory_bytes = static_cast<std::int64_t>(n_bytes);
  info.largest_bytes = info.memory_bytes;
  info.shared_bytes = attribute(driver.func_set_attribute != nullptr ? max_shared_memory_on_request
                                                                     : max_shared_memory_per_block);
  info.n_units = attribute(multiprocessor_count);
  info.max_lanes = attribute(max_threads_per_block);
  info.warp = attribute(warp_size);
  info.float64 = true;
  return info;
}

}  // namespace

std::vector<DeviceInfo> list_devices(const Driver& driver) {
  int n_devices = 0;
  const Result counted = driver.device_get_count(&n_devices);
  if (counted == no_device) return {};
  check(driver, counted, "count the GPUs");
  const std::string version = driver_version(driver);
  std::vector<DeviceInfo> devices;
  for (int index = 0; index < n_devices; ++index) {
    devices.push_back(describe_device(driver, index, version));
  }
  return devices;
}

VendorTable table_of(const char* name, Driver (*load)(), decltype(VendorTable::fitting) fitting) {
  const auto list = [load] {
    const Driver driver = load();
    std::vector<DeviceInfo> devices = list_devices(driver);
    if (!devices.empty()) return devices;
    throw ToolchainError(fmt::format("{} at {} finds no GPU; {}", driver.vendor.driver, driver.path,
                                     driver.vendor.look),
                         "", "", "");
  };
  const auto open = [load](int index) {
    return std::make_shared<Gpu>(std::make_shared<const Driver>(load()), index);
  };
  return {name, list, open, fitting};
}

}  // namespace op2::runtime::gpu
