// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu/driver.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace op2::runtime::gpu {

void start(const Driver& driver) {
  const Result started = driver.init(0);
  if (started == success) return;
  const Vendor& vendor = driver.vendor;
  const std::string_view what = started == no_device ? "finds no GPU" : "does not start";
  throw ToolchainError(fmt::format("{} at {} {} ({}); {}", vendor.driver, driver.path, what,
                                   describe(driver, started), vendor.look),
                       "", "", "");
}

std::string describe(const Driver& driver, Result result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver.get_error_name(result, &name) != success || name == nullptr) {
    return fmt::format("{} error {}", driver.vendor.platform, result);
  }
  if (driver.get_error_string(result, &text) != success || text == nullptr) return name;
  return fmt::format("{}: {}", name, text);
}

}  // namespace op2::runtime::gpu
