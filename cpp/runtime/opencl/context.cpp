// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/opencl/context.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace op2::runtime::opencl {
namespace {

// As many as threads may have compiled, each before it loads what it has compiled.
constexpr std::size_t n_built_max = 16;

Owned<Context> make_context(const Api& api, const FoundDevice& device) {
  constexpr std::intptr_t platform_property = 0x1084;
  const std::array<std::intptr_t, 3> properties = {
      platform_property, reinterpret_cast<std::intptr_t>(device.platform), 0};
  Status status = code::success;
  Owned<Context> context(
      api.create_context(properties.data(), 1, &device.id, nullptr, nullptr, &status),
      api.release_context);
  check(status, "clCreateContext");
  return context;
}

}  // namespace

DeviceContext::DeviceContext(std::shared_ptr<const Api> api, const FoundDevice& device)
    : api_(std::move(api)), context_(make_context(*api_, device)) {}

void DeviceContext::keep(std::string bytes, Owned<ProgramId> program) {
  const std::scoped_lock guard(mutex_);
  if (built_.size() == n_built_max) built_.pop_front();
  built_.emplace_back(std::move(bytes), std::move(program));
}

Owned<ProgramId> DeviceContext::take(const std::string& bytes) {
  const std::scoped_lock guard(mutex_);
  const auto found =
      std::ranges::find_if(built_, [&bytes](const auto& one) { return one.first == bytes; });
  if (found == built_.end()) return {};
  Owned<ProgramId> program = std::move(found->second);
  built_.erase(found);
  return program;
}

std::shared_ptr<DeviceContext> context_of(const std::shared_ptr<const Api>& api,
                                          const FoundDevice& device) {
  static std::mutex mutex;
  static std::map<DeviceId, std::weak_ptr<DeviceContext>> known;
  const std::scoped_lock guard(mutex);
  std::weak_ptr<DeviceContext>& here = known[device.id];
  std::shared_ptr<DeviceContext> context = here.lock();
  if (context == nullptr) here = context = std::make_shared<DeviceContext>(api, device);
  return context;
}

}  // namespace op2::runtime::opencl
