// SPDX-License-Identifier: BSD-3-Clause
#include "api/shared.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>

#include "base/error.hpp"
#include "libs/known.hpp"
#include "runtime/chosen_device.hpp"
#include "runtime/host/threads.hpp"
#include "runtime/vendors.hpp"

namespace op2 {
namespace api {
namespace {

/// Null: loops run on the host. Shared::mutex is held.
const runtime::DeviceVendor* devices_of(const Shared& all, const std::string& backend) {
  const auto found = all.backends.find(backend);
  if (found != all.backends.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [name, vendor] : all.backends) names.push_back(name);
  throw UsageError(
      fmt::format("there is no backend '{}' in this program; there are: {}; if loops are to run "
                  "there, generate them with --backend {}",
                  backend, fmt::join(names, ", "), backend));
}

/// The device that options mean, opened once.
std::shared_ptr<runtime::DeviceMirror> mirror_of(const Options& options) {
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  const runtime::DeviceVendor* vendor = devices_of(all, options.backend);
  if (vendor == nullptr) return nullptr;
  std::vector<runtime::DeviceLabel> labels;
  for (const runtime::DeviceInfo& info : vendor->list_devices()) {
    labels.push_back({info.name, info.platform, info.is_cpu});
  }
  const int number = runtime::chosen_device(labels, options.platform, options.device);
  auto& found = all.mirrors[{vendor, number}];
  if (!found) {
    found = std::make_shared<runtime::DeviceMirror>(vendor->open_device(number), all.coherence);
  }
  return found;
}

const Image& fitting(const runtime::DeviceVendor& vendor, const runtime::DeviceInfo& info,
                     const std::string& loop, const std::vector<Image>& images) {
  std::vector<std::string> targets;
  for (const Image& image : images) targets.emplace_back(image.target);
  const std::optional<std::size_t> found = vendor.fitting(info.capability, targets);
  if (found) return images[*found];
  throw UnsupportedError(fmt::format(
      "par_loop '{}': it was compiled for {}, but '{}' is {}; generate it with --arch {}", loop,
      fmt::join(targets, ", "), info.name, info.capability, info.capability));
}

}  // namespace

Shared& shared() {
  static Shared& state = *new Shared;
  return state;
}

KnownBackends::KnownBackends(std::initializer_list<KnownBackend> backends) {
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  for (const KnownBackend& one : backends) all.backends.emplace(one.name, one.vendor);
}

int n_threads_of(const Options& options) {
  return options.threads > 0 ? options.threads : runtime::available_threads();
}

std::shared_ptr<exec::Program> program_on(runtime::Device& device, const std::string& loop,
                                          const std::vector<Image>& images) {
  const runtime::DeviceVendor& vendor = runtime::vendor_named(device.info().backend);
  const Image& image = fitting(vendor, device.info(), loop, images);
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  auto& found = all.programs[{&device, image.bytes}];
  if (!found) {
    const std::string code(reinterpret_cast<const char*>(image.bytes), image.n_bytes);
    found = device.load(vendor.loadable(image.target, code));
  }
  return found;
}

}  // namespace api

void init(const Options& options) {
  if (options.threads < 0) {
    throw UsageError(fmt::format("init: threads must be 0 or more, got {}", options.threads));
  }
  if (options.device_memory < 0) {
    throw UsageError(
        fmt::format("init: device_memory must be 0 or more, got {}", options.device_memory));
  }
  auto mirror = api::mirror_of(options);
  libs::OpenedLibraries opened;
  if (!options.blas.empty()) opened = libs::open_libraries(options.blas);
  auto tuned = options.tuned.empty() ? nullptr : std::make_shared<const api::Tuned>(options.tuned);
  api::Shared& all = api::shared();
  const std::lock_guard lock(all.mutex);
  all.coherence->n_threads = api::n_threads_of(options);
  all.options = options;
  constexpr std::int64_t megabyte = 1'000'000;
  for (const auto& [which, one] : all.mirrors) {
    if (one) one->device()->limit_memory(megabyte * options.device_memory);
  }
  all.mirror = std::move(mirror);
  all.tuned = std::move(tuned);
  all.missing_libraries = std::move(opened.missing);
  all.asks_libraries = !opened.libraries.empty();
  all.vectors = opened.libraries.empty()
                    ? nullptr
                    : std::make_shared<libs::Vectors>(std::move(opened.libraries), all.operations);
}

void finish() {
  std::vector<std::shared_ptr<runtime::DeviceMirror>> mirrors;
  {
    api::Shared& all = api::shared();
    const std::lock_guard lock(all.mutex);
    for (const auto& [which, mirror] : all.mirrors) mirrors.push_back(mirror);
  }
  for (const auto& mirror : mirrors) {
    if (mirror) mirror->device()->finish();
  }
}

}  // namespace op2
