// SPDX-License-Identifier: BSD-3-Clause
#include "api/shared.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>

#include "base/error.hpp"
#include "runtime/chosen_device.hpp"
#include "runtime/cuda/adaptor.hpp"
#include "runtime/host/threads.hpp"
#include "runtime/images.hpp"
#include "runtime/opencl/device.hpp"
#include "runtime/opencl/known_text.hpp"

namespace op2 {
namespace api {
namespace {

constexpr const char* backend_names[] = {"sequential", "openmp", "opencl", "cuda"};

bool is_on_device(Backend backend) {
  return backend == Backend::opencl || backend == Backend::cuda;
}

std::shared_ptr<runtime::Device> opened(Backend backend, int number) {
  return backend == Backend::cuda ? runtime::cuda::open_device(number)
                                  : runtime::opencl::open_device(number);
}

/// The device that options mean, opened once.
std::shared_ptr<runtime::DeviceMirror> mirror_of(const Options& options) {
  if (!is_on_device(options.backend)) return nullptr;
  std::vector<runtime::DeviceLabel> labels;
  for (const runtime::DeviceInfo& info : options.backend == Backend::cuda
                                             ? runtime::cuda::find_devices()
                                             : runtime::opencl::list_devices()) {
    labels.push_back({info.name, info.platform, info.is_cpu});
  }
  const int number = runtime::chosen_device(labels, options.platform, options.device);
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  auto& found = all.mirrors[{options.backend, number}];
  if (!found) {
    found = std::make_shared<runtime::DeviceMirror>(opened(options.backend, number), all.coherence);
  }
  return found;
}

std::string binary_of(const Image& image, const std::string& backend) {
  std::string bytes(reinterpret_cast<const char*>(image.bytes), image.n_bytes);
  if (backend == "cuda") return bytes;
  return runtime::opencl::bytes_of({image.target, std::move(bytes)});
}

/// OpenCL's one image is text; CUDA's are for kinds of GPUs.
const Image& fitting(const runtime::DeviceInfo& info, const std::string& loop,
                     const std::vector<Image>& images) {
  if (info.backend != "cuda") return images.front();
  std::vector<std::string> targets;
  for (const Image& image : images) targets.emplace_back(image.target);
  const std::optional<std::size_t> found = runtime::fitting_image(info.capability, targets);
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

const char* name_of(Backend backend) {
  return backend_names[static_cast<std::size_t>(backend)];
}

int n_threads_of(const Options& options) {
  return options.threads > 0 ? options.threads : runtime::available_threads();
}

std::shared_ptr<exec::Program> program_on(runtime::Device& device, const std::string& loop,
                                          const std::vector<Image>& images) {
  const Image& image = fitting(device.info(), loop, images);
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  auto& found = all.programs[{&device, image.bytes}];
  if (!found) found = device.load(binary_of(image, device.info().backend));
  return found;
}

}  // namespace api

Backend backend_named(const std::string& name) {
  const auto* found = std::ranges::find(api::backend_names, name);
  if (found != std::end(api::backend_names)) {
    return static_cast<Backend>(found - std::begin(api::backend_names));
  }
  throw UsageError(fmt::format("there is no backend '{}'; there are: {}", name,
                               fmt::join(api::backend_names, ", ")));
}

void init(const Options& options) {
  if (options.threads < 0) {
    throw UsageError(fmt::format("init: threads must be 0 or more, got {}", options.threads));
  }
  auto mirror = api::mirror_of(options);
  api::Shared& all = api::shared();
  const std::lock_guard lock(all.mutex);
  all.coherence->n_threads = api::n_threads_of(options);
  all.options = options;
  all.mirror = std::move(mirror);
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
