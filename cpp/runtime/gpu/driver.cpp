// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu/driver.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "base/error.hpp"

namespace op2::runtime::gpu {
namespace {

/// A driver that did not start is not asked again: AMD's gives another answer from its second call
/// on, as if it had found out nothing.
Result started_once(const Driver& driver) {
  static std::mutex mutex;
  static std::map<decltype(driver.init), Result> failed;
  const std::scoped_lock lock(mutex);
  const auto known = failed.find(driver.init);
  if (known != failed.end()) return known->second;
  const Result result = driver.init(0);
  if (result != success) failed.emplace(driver.init, result);
  return result;
}

}  // namespace

void start(const Driver& driver) {
  const Result started = started_once(driver);
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
