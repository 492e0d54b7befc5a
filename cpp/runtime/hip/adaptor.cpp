// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/hip/adaptor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "base/error.hpp"
#include "base/vendor_library.hpp"
#include "runtime/gpu/devices.hpp"

namespace op2::runtime::hip {
namespace {

using gpu::Driver;
using gpu::Result;

const char* const install_driver =
    "install AMD's HIP run-time (Debian: apt-get install libamdhip64-5) and its kernel driver";

/// Functions whose shape is another in HIP, behind ones of CUDA's shape. One library is loaded a
/// process, and never closed.
struct Reshaped {
  const char* (*error_name)(Result error) = nullptr;
  const char* (*error_string)(Result error) = nullptr;
  Result (*attribute)(int* value, int attribute, gpu::DeviceOrdinal device) = nullptr;
  Result (*pointer_attribute)(void* data, int attribute, void* pointer) = nullptr;
  Result (*properties)(void* properties, gpu::DeviceOrdinal device) = nullptr;
  int version = 0;
};
Reshaped reshaped;

Result get_error_name(Result error, const char** text) {
  *text = reshaped.error_name(error);
  return gpu::success;
}

Result get_error_string(Result error, const char** text) {
  *text = reshaped.error_string(error);
  return gpu::success;
}

Result device_get_attribute(int* value, gpu::DeviceAttribute attribute, gpu::DeviceOrdinal device) {
  return reshaped.attribute(value, attribute_number(attribute), device);
}

Result pointer_get_attribute(void* data, gpu::PointerAttribute attribute,
                             gpu::DeviceAddress pointer) {
  const Result found =
      reshaped.pointer_attribute(data, attribute, reinterpret_cast<void*>(pointer));
  if (found == gpu::success && attribute == gpu::pointer_memory_type) {
    auto& type = *static_cast<unsigned*>(data);
    type = memory_type(type, reshaped.version);
  }
  return found;
}

/// Major and minor are alike for GPUs that need different code: gfx906, gfx908, gfx90a.
std::string architecture(gpu::DeviceOrdinal device, int major, int minor) {
  std::array<char, 8192> properties = {};  // they are 1 to 2 kB
  if (reshaped.properties != nullptr &&
      reshaped.properties(properties.data(), device) == gpu::success) {
    if (std::string found = architecture_in(properties); !found.empty()) return found;
  }
  return fmt::format("gfx{}.{}", major, minor);
}

std::string advice_on_code(int version) {
  return fmt::format(
      "hipRTC may be of another version than the run-time, which is {}: install both "
      "from one release",
      version_text(version));
}

void resolve_devices(const VendorLibrary& library, Driver& driver) {
  library.require(driver.init, "hipInit");
  library.require(driver.driver_get_version, "hipDriverGetVersion");
  library.require(reshaped.error_name, "hipGetErrorName");
  library.require(reshaped.error_string, "hipGetErrorString");
  library.require(reshaped.attribute, "hipDeviceGetAttribute");
  library.require(reshaped.pointer_attribute, "hipPointerGetAttribute");
  library.look_up(reshaped.properties, "hipGetDevicePropertiesR0600");
  if (reshaped.properties == nullptr) {
    library.look_up(reshaped.properties, "hipGetDeviceProperties");
  }
  driver.get_error_name = get_error_name;
  driver.get_error_string = get_error_string;
  driver.device_get_attribute = device_get_attribute;
  driver.pointer_get_attribute = pointer_get_attribute;
  library.require(driver.device_get_count, "hipGetDeviceCount");
  library.require(driver.device_get, "hipDeviceGet");
  library.require(driver.device_get_name, "hipDeviceGetName");
  library.require(driver.device_total_mem, "hipDeviceTotalMem");
  library.require(driver.primary_ctx_retain, "hipDevicePrimaryCtxRetain");
  library.require(driver.primary_ctx_release, "hipDevicePrimaryCtxRelease");
  library.require(driver.ctx_get_current, "hipCtxGetCurrent");
  library.require(driver.ctx_push_current, "hipCtxPushCurrent");
  library.require(driver.ctx_pop_current, "hipCtxPopCurrent");
  library.require(driver.stream_create, "hipStreamCreateWithFlags");
  library.require(driver.stream_destroy, "hipStreamDestroy");
  library.require(driver.stream_synchronize, "hipStreamSynchronize");
  library.look_up(driver.stream_begin_capture, "hipStreamBeginCapture");
  library.look_up(driver.stream_end_capture, "hipStreamEndCapture");
  library.look_up(driver.stream_get_capture_info, "hipStreamGetCaptureInfo_v2");
  library.look_up(driver.stream_update_capture_dependencies, "hipStreamUpdateCaptureDependencies");
  library.look_up(driver.graph_instantiate, "hipGraphInstantiateWithFlags");
  library.look_up(driver.graph_launch, "hipGraphLaunch");
  library.look_up(driver.graph_destroy, "hipGraphDestroy");
  library.look_up(driver.graph_exec_destroy, "hipGraphExecDestroy");
  library.require(driver.event_create, "hipEventCreateWithFlags");
  library.require(driver.event_record, "hipEventRecord");
  library.require(driver.event_synchronize, "hipEventSynchronize");
  library.require(driver.event_query, "hipEventQuery");
  library.require(driver.event_elapsed_time, "hipEventElapsedTime");
  library.require(driver.event_destroy, "hipEventDestroy");
}

void resolve_memory(const VendorLibrary& library, Driver& driver) {
  library.require(driver.mem_get_info, "hipMemGetInfo");
  library.require(driver.mem_alloc, "hipMalloc");
  library.require(driver.mem_free, "hipFree");
  library.look_up(driver.mem_alloc_async, "hipMallocAsync");
  library.look_up(driver.mem_free_async, "hipFreeAsync");
  library.look_up(driver.device_get_default_mem_pool, "hipDeviceGetDefaultMemPool");
  library.look_up(driver.mem_pool_set_attribute, "hipMemPoolSetAttribute");
  library.look_up(driver.mem_pool_trim_to, "hipMemPoolTrimTo");
  library.require(driver.mem_host_alloc, "hipHostMalloc");
  library.require(driver.mem_free_host, "hipHostFree");
  library.require(driver.memcpy_htod_async, "hipMemcpyHtoDAsync");
  library.require(driver.memcpy_dtoh_async, "hipMemcpyDtoHAsync");
  library.require(driver.memcpy_dtod_async, "hipMemcpyDtoDAsync");
  library.require(driver.memset_d8_async, "hipMemsetD8Async");
  library.require(driver.memset_d32_async, "hipMemsetD32Async");
}

/// Launches that may overlap and graphs that repeat themselves are CUDA's only: left null.
void resolve_code(const VendorLibrary& library, Driver& driver) {
  library.require(driver.module_load_data, "hipModuleLoadData");
  library.require(driver.module_unload, "hipModuleUnload");
  library.require(driver.module_get_function, "hipModuleGetFunction");
  library.require(driver.module_get_global, "hipModuleGetGlobal");
  library.require(driver.func_get_attribute, "hipFuncGetAttribute");
  library.look_up(driver.resident_blocks, "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor");
  library.require(driver.launch_kernel, "hipModuleLaunchKernel");
}

gpu::Vendor vendor() {
  return {.backend = "hip",
          .platform = "HIP",
          .driver = "AMD's HIP run-time",
          .look = "see what rocminfo says, and whether HIP_VISIBLE_DEVICES hides it",
          .blocking = "AMD_SERIALIZE_KERNEL=3",
          .own_version = "/sys/module/amdgpu/version",
          .dlpack = 10,
          .version = version_text,
          .architecture = architecture,
          .advice_on_code = advice_on_code};
}

}  // namespace

std::vector<std::string> driver_candidates() {
  return {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so",
          "/opt/rocm/lib/libamdhip64.so"};
}

std::string version_text(int version) {
  return fmt::format("{}.{}.{}", version / 10'000'000, version / 100'000 % 100, version % 100'000);
}

std::string architecture_in(std::span<const char> properties) {
  constexpr std::size_t n_name = 256;
  const std::string_view rest = std::string_view(properties.data(), properties.size())
                                    .substr(std::min(n_name, properties.size()));
  const std::size_t begin = rest.find("gfx");
  if (begin == std::string_view::npos) return "";
  return std::string(rest.substr(begin, rest.find('\0', begin) - begin));
}

std::optional<std::size_t> fitting_image(const std::string& capability,
                                         const std::vector<std::string>& targets) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::string& target = targets[i];
    const bool fits = !target.empty() && (capability + ":").starts_with(target + ":");
    if (fits && (!found || target.size() > targets[*found].size())) found = i;
  }
  return found;
}

gpu::Driver load_driver(const std::vector<std::string>& candidates) {
  const VendorLibrary library("AMD's HIP run-time", candidates, install_driver);
  Driver driver;
  driver.vendor = vendor();
  driver.path = library.path();
  resolve_devices(library, driver);
  resolve_memory(library, driver);
  resolve_code(library, driver);
  gpu::start(driver);
  driver.driver_get_version(&reshaped.version);
  return driver;
}

const DeviceVendor device_vendor(gpu::table_of(
    "hip", [] { return load_driver(driver_candidates()); }, fitting_image));

}  // namespace op2::runtime::hip
