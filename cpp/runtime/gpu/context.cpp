// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu/context.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/error.hpp"
#include "base/forks.hpp"

namespace op2::runtime::gpu {
namespace {

std::string gpu_name(const Driver& driver, DeviceOrdinal ordinal) {
  std::array<char, 256> text = {};
  if (driver.device_get_name(text.data(), static_cast<int>(text.size()), ordinal) != success) {
    return "unnamed";
  }
  return text.data();
}

}  // namespace

Context::Context(std::shared_ptr<const Driver> driver, int index)
    : driver_(std::move(driver)),
      n_forks_(forks_so_far()),
      name_(fmt::format("{} device {}", driver_->vendor.backend, index)) {
  int n_devices = 0;
  check(driver_->device_get_count(&n_devices), "count the GPUs");
  if (index < 0 || index >= n_devices) {
    throw UsageError(fmt::format("there is no {} device {}; there are {}: 0 to {}",
                                 driver_->vendor.backend, index, n_devices, n_devices - 1));
  }
  check(driver_->device_get(&ordinal_, index), "find the GPU");
  name_ += fmt::format(" ({})", gpu_name(*driver_, ordinal_));
  check(driver_->primary_ctx_retain(&handle_, ordinal_), "start");
  const Result made = [this] {
    const Current current(*this);
    return driver_->stream_create(&stream_, stream_default);
  }();
  if (made != success) {
    driver_->primary_ctx_release(ordinal_);
    check(made, "make a stream");
  }
}

Context::~Context() {
  if (is_inherited()) return;
  {
    const Current current(*this);
    driver_->stream_destroy(stream_);
  }
  driver_->primary_ctx_release(ordinal_);
}

bool Context::is_inherited() const {
  return forks_so_far() != n_forks_;
}

void Context::check_process() const {
  if (!is_inherited()) return;
  throw ExecutionError(
      fmt::format("{} was opened before this process was forked, and works in the parent only; "
                  "start processes with multiprocessing's 'spawn' method, or fork before the first "
                  "loop runs",
                  name_));
}

void Context::check(Result result, std::string_view doing) const {
  if (result == success) return;
  throw ExecutionError(
      fmt::format("cannot {} on {}: {}", doing, name_, describe(*driver_, result)));
}

Current::Current(const Context& context) : driver_(*context.driver_) {
  ContextHandle current = nullptr;
  if (driver_.ctx_get_current(&current) == success && current == context.handle_) return;
  is_pushed_ = driver_.ctx_push_current(context.handle_) == success;
}

Current::~Current() {
  ContextHandle popped = nullptr;
  if (is_pushed_) driver_.ctx_pop_current(&popped);
}

}  // namespace op2::runtime::gpu
