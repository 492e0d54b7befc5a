// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/opencl/api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/user_folders.hpp"
#include "base/vendor_library.hpp"

namespace op2::runtime::opencl {
namespace {

constexpr const char* library_name = "libOpenCL.so.1";

constexpr std::pair<Status, std::string_view> status_names[] = {
    {-1, "CL_DEVICE_NOT_FOUND"},
    {-2, "CL_DEVICE_NOT_AVAILABLE"},
    {-3, "CL_COMPILER_NOT_AVAILABLE"},
    {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {-5, "CL_OUT_OF_RESOURCES"},
    {-6, "CL_OUT_OF_HOST_MEMORY"},
    {-11, "CL_BUILD_PROGRAM_FAILURE"},
    {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {-15, "CL_COMPILE_PROGRAM_FAILURE"},
    {-30, "CL_INVALID_VALUE"},
    {-36, "CL_INVALID_COMMAND_QUEUE"},
    {-38, "CL_INVALID_MEM_OBJECT"},
    {-42, "CL_INVALID_BINARY"},
    {-43, "CL_INVALID_BUILD_OPTIONS"},
    {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
    {-46, "CL_INVALID_KERNEL_NAME"},
    {-48, "CL_INVALID_KERNEL"},
    {-49, "CL_INVALID_ARG_INDEX"},
    {-50, "CL_INVALID_ARG_VALUE"},
    {-51, "CL_INVALID_ARG_SIZE"},
    {-52, "CL_INVALID_KERNEL_ARGS"},
    {-54, "CL_INVALID_WORK_GROUP_SIZE"},
    {-55, "CL_INVALID_WORK_ITEM_SIZE"},
    {-61, "CL_INVALID_BUFFER_SIZE"},
    {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"}};

constexpr const char* install =
    "on Debian or Ubuntu: 'apt-get install ocl-icd-libopencl1 pocl-opencl-icd' (PoCL runs on the "
    "processor; a GPU's driver brings its own platform)";

[[noreturn]] void missing(const std::string& what) {
  throw ToolchainError(fmt::format("{}; {}", what, install), "", "", "");
}

template <class Query>
std::string text(const Query& query) {
  std::size_t n_bytes = 0;
  check(query(0, nullptr, &n_bytes), "clGet...Info");
  std::string found(n_bytes, '\0');
  check(query(n_bytes, found.data(), nullptr), "clGet...Info");
  const auto is_end = [](char c) { return c == '\0' || c == ' ' || c == '\n'; };
  while (!found.empty() && is_end(found.back())) found.pop_back();
  return found;
}

/// Where PoCL, which has no device without it, keeps its cache if it is told nothing.
std::string cache_of_pocl() {
  const std::string caches = caches_of_user();
  return (caches.empty() ? "/tmp" : caches) + "/pocl";
}

}  // namespace

std::shared_ptr<const Api> load_api() {
  place_cache("POCL_CACHE_DIR", cache_of_pocl());
  const VendorLibrary library("the OpenCL loader", {library_name}, install);
  auto api = std::make_shared<Api>();
  library.require(api->get_platforms, "clGetPlatformIDs");
  library.require(api->platform_info, "clGetPlatformInfo");
  library.require(api->get_devices, "clGetDeviceIDs");
  library.require(api->device_info, "clGetDeviceInfo");
  library.require(api->create_context, "clCreateContext");
  library.require(api->release_context, "clReleaseContext");
  library.require(api->create_queue, "clCreateCommandQueue");
  library.require(api->release_queue, "clReleaseCommandQueue");
  library.require(api->create_buffer, "clCreateBuffer");
  library.require(api->create_part, "clCreateSubBuffer");
  library.require(api->release_memory, "clReleaseMemObject");
  library.require(api->write_buffer, "clEnqueueWriteBuffer");
  library.require(api->read_buffer, "clEnqueueReadBuffer");
  library.require(api->copy_buffer, "clEnqueueCopyBuffer");
  library.require(api->fill_buffer, "clEnqueueFillBuffer");
  library.require(api->launch, "clEnqueueNDRangeKernel");
  library.require(api->flush, "clFlush");
  library.require(api->finish, "clFinish");
  library.require(api->create_program_with_source, "clCreateProgramWithSource");
  library.require(api->create_program_with_binary, "clCreateProgramWithBinary");
  library.require(api->build_program, "clBuildProgram");
  library.require(api->program_info, "clGetProgramInfo");
  library.require(api->build_info, "clGetProgramBuildInfo");
  library.require(api->release_program, "clReleaseProgram");
  library.require(api->create_kernel, "clCreateKernel");
  library.require(api->release_kernel, "clReleaseKernel");
  library.require(api->set_argument, "clSetKernelArg");
  library.require(api->kernel_info, "clGetKernelWorkGroupInfo");
  library.require(api->event_info, "clGetEventInfo");
  library.require(api->event_profile, "clGetEventProfilingInfo");
  library.require(api->retain_event, "clRetainEvent");
  library.require(api->release_event, "clReleaseEvent");
  return api;
}

std::vector<FoundDevice> find_devices(const Api& api) {
  static std::mutex mutex;  // loaders read their drivers in here, and not all for several threads
  const std::scoped_lock guard(mutex);
  Count n_platforms = 0;
  const Status status = api.get_platforms(0, nullptr, &n_platforms);
  if (status == code::no_platform || n_platforms == 0) {
    missing(fmt::format("{} finds no OpenCL platform (none is registered in /etc/OpenCL/vendors)",
                        library_name));
  }
  check(status, "clGetPlatformIDs");
  std::vector<Platform> platforms(n_platforms);
  check(api.get_platforms(n_platforms, platforms.data(), nullptr), "clGetPlatformIDs");
  std::vector<FoundDevice> found;
  std::string names;
  for (Platform platform : platforms) {
    names += (names.empty() ? "'" : ", '") + text_of(api, platform, query::platform_name) + "'";
    Count n_devices = 0;
    const Status any = api.get_devices(platform, all_device_types, 0, nullptr, &n_devices);
    if (any != code::success || n_devices == 0) continue;  // a driver without its hardware
    std::vector<DeviceId> devices(n_devices);
    check(api.get_devices(platform, all_device_types, n_devices, devices.data(), nullptr),
          "clGetDeviceIDs");
    for (DeviceId device : devices) found.push_back({platform, device});
  }
  if (found.empty()) {
    const std::string cache = environment("POCL_CACHE_DIR");
    const std::string hint = names.find("Portable") == std::string::npos
                                 ? ""
                                 : fmt::format(
                                       "; 'Portable Computing Language' (PoCL) has none where it "
                                       "cannot write its cache, {}: set "
                                       "POCL_CACHE_DIR to a folder that you may write",
                                       cache.empty() ? cache_of_pocl() : cache);
    missing(fmt::format("no OpenCL platform has a device (asked: {}){}", names, hint));
  }
  return found;
}

FoundDevice device_number(const Api& api, int index) {
  const std::vector<FoundDevice> found = find_devices(api);
  if (index >= 0 && static_cast<std::size_t>(index) < found.size()) {
    return found[static_cast<std::size_t>(index)];
  }
  throw UsageError(
      fmt::format("there is no OpenCL device number {}; there are {}", index, found.size()));
}

std::string binary_of(const Api& api, ProgramId program) {
  std::size_t size = 0;
  check(api.program_info(program, query::program_binary_sizes, sizeof size, &size, nullptr),
        "clGetProgramInfo(CL_PROGRAM_BINARY_SIZES)");
  std::string binary(size, '\0');
  auto* start = reinterpret_cast<unsigned char*>(binary.data());
  check(api.program_info(program, query::program_binaries, sizeof start, &start, nullptr),
        "clGetProgramInfo(CL_PROGRAM_BINARIES)");
  return binary;
}

std::string build_log(const Api& api, ProgramId program, DeviceId device) {
  std::size_t n_bytes = 0;
  if (api.build_info(program, device, query::build_log, 0, nullptr, &n_bytes) != code::success) {
    return "";
  }
  std::string log(n_bytes, '\0');
  if (api.build_info(program, device, query::build_log, n_bytes, log.data(), nullptr) !=
      code::success) {
    return "";
  }
  while (!log.empty() && log.back() == '\0') log.pop_back();
  return log;
}

std::string text_of(const Api& api, DeviceId device, Count property) {
  return text([&api, device, property](std::size_t n, void* to, std::size_t* n_bytes) {
    return api.device_info(device, property, n, to, n_bytes);
  });
}

std::string text_of(const Api& api, Platform platform, Count property) {
  return text([&api, platform, property](std::size_t n, void* to, std::size_t* n_bytes) {
    return api.platform_info(platform, property, n, to, n_bytes);
  });
}

std::string status_name(Status status) {
  const auto* found =
      std::ranges::find(status_names, status, &std::pair<Status, std::string_view>::first);
  if (found != std::end(status_names)) return std::string(found->second);
  return fmt::format("OpenCL error {}", status);
}

void check(Status status, const char* call) {
  if (status != code::success) {
    throw ExecutionError(fmt::format("{} failed: {}", call, status_name(status)));
  }
}

}  // namespace op2::runtime::opencl
