// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/cuda/adaptor.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/user_folders.hpp"
#include "base/vendor_library.hpp"
#include "runtime/cuda/deciding_code.hpp"
#include "runtime/cuda/images.hpp"
#include "runtime/gpu/devices.hpp"

namespace op2::runtime::cuda {
namespace {

using gpu::Driver;

const char* const install_driver =
    "install NVIDIA's driver for this GPU (Debian: apt-get install nvidia-driver; in a container, "
    "start it with the GPUs passed through)";

void resolve_devices(const VendorLibrary& library, Driver& driver) {
  library.require(driver.init, "cuInit");
  library.require(driver.driver_get_version, "cuDriverGetVersion");
  library.require(driver.get_error_name, "cuGetErrorName");
  library.require(driver.get_error_string, "cuGetErrorString");
  library.require(driver.device_get_count, "cuDeviceGetCount");
  library.require(driver.device_get, "cuDeviceGet");
  library.require(driver.device_get_name, "cuDeviceGetName");
  library.require(driver.device_total_mem, "cuDeviceTotalMem_v2");
  library.require(driver.device_get_attribute, "cuDeviceGetAttribute");
  library.require(driver.primary_ctx_retain, "cuDevicePrimaryCtxRetain");
  library.require(driver.primary_ctx_release, "cuDevicePrimaryCtxRelease_v2");
  library.require(driver.ctx_get_current, "cuCtxGetCurrent");
  library.require(driver.ctx_push_current, "cuCtxPushCurrent_v2");
  library.require(driver.ctx_pop_current, "cuCtxPopCurrent_v2");
  library.require(driver.stream_create, "cuStreamCreate");
  library.require(driver.stream_destroy, "cuStreamDestroy_v2");
  library.require(driver.stream_synchronize, "cuStreamSynchronize");
  library.look_up(driver.stream_begin_capture, "cuStreamBeginCapture_v2");
  library.look_up(driver.stream_end_capture, "cuStreamEndCapture");
  library.look_up(driver.stream_get_capture_info, "cuStreamGetCaptureInfo_v2");
  library.look_up(driver.stream_update_capture_dependencies, "cuStreamUpdateCaptureDependencies");
  library.look_up(driver.graph_instantiate, "cuGraphInstantiateWithFlags");
  library.look_up(driver.graph_launch, "cuGraphLaunch");
  library.look_up(driver.graph_destroy, "cuGraphDestroy");
  library.look_up(driver.graph_exec_destroy, "cuGraphExecDestroy");
  library.look_up(driver.graph_create, "cuGraphCreate");
  library.look_up(driver.graph_get_nodes, "cuGraphGetNodes");
  library.look_up(driver.graph_add_node, "cuGraphAddNode_v2");
  library.look_up(driver.graph_conditional_handle_create, "cuGraphConditionalHandleCreate");
  library.look_up(driver.stream_begin_capture_to_graph, "cuStreamBeginCaptureToGraph");
  library.require(driver.event_create, "cuEventCreate");
  library.require(driver.event_record, "cuEventRecord");
  library.require(driver.event_synchronize, "cuEventSynchronize");
  library.require(driver.event_query, "cuEventQuery");
  library.require(driver.event_elapsed_time, "cuEventElapsedTime");
  library.require(driver.event_destroy, "cuEventDestroy_v2");
}

void resolve_memory(const VendorLibrary& library, Driver& driver) {
  library.require(driver.mem_get_info, "cuMemGetInfo_v2");
  library.require(driver.mem_alloc, "cuMemAlloc_v2");
  library.require(driver.mem_free, "cuMemFree_v2");
  library.look_up(driver.mem_alloc_async, "cuMemAllocAsync");
  library.look_up(driver.mem_free_async, "cuMemFreeAsync");
  library.look_up(driver.device_get_default_mem_pool, "cuDeviceGetDefaultMemPool");
  library.look_up(driver.mem_pool_set_attribute, "cuMemPoolSetAttribute");
  library.look_up(driver.mem_pool_trim_to, "cuMemPoolTrimTo");
  library.require(driver.mem_host_alloc, "cuMemHostAlloc");
  library.require(driver.mem_free_host, "cuMemFreeHost");
  library.require(driver.pointer_get_attribute, "cuPointerGetAttribute");
  library.require(driver.memcpy_htod_async, "cuMemcpyHtoDAsync_v2");
  library.require(driver.memcpy_dtoh_async, "cuMemcpyDtoHAsync_v2");
  library.require(driver.memcpy_dtod_async, "cuMemcpyDtoDAsync_v2");
  library.require(driver.memset_d8_async, "cuMemsetD8Async");
  library.require(driver.memset_d32_async, "cuMemsetD32Async");
}

void resolve_code(const VendorLibrary& library, Driver& driver) {
  library.require(driver.module_load_data, "cuModuleLoadData");
  library.require(driver.module_unload, "cuModuleUnload");
  library.require(driver.module_get_function, "cuModuleGetFunction");
  library.require(driver.module_get_global, "cuModuleGetGlobal_v2");
  library.require(driver.func_get_attribute, "cuFuncGetAttribute");
  library.require(driver.func_set_attribute, "cuFuncSetAttribute");
  library.look_up(driver.resident_blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  library.require(driver.launch_kernel, "cuLaunchKernel");
  library.look_up(driver.launch_kernel_ex, "cuLaunchKernelEx");
}

}  // namespace

std::vector<std::string> driver_candidates() {
  // The second is where Windows' subsystem for Linux keeps it.
  return {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
}

Driver load_driver(const std::vector<std::string>& candidates) {
  place_cache("CUDA_CACHE_PATH", environment("HOME") + "/.nv/ComputeCache");
  const VendorLibrary library("NVIDIA's driver", candidates, install_driver);
  Driver driver;
  driver.vendor = vendor();
  driver.path = library.path();
  resolve_devices(library, driver);
  resolve_memory(library, driver);
  resolve_code(library, driver);
  gpu::start(driver);
  return driver;
}

std::string architecture(int major, int minor) {
  return fmt::format("sm_{}{}", major, minor);
}

std::string advice_on_code(int version) {
  // From 13 on the package's name no longer says the version.
  const std::string package = fmt::format("nvidia-cuda-nvrtc{}=={}.*",
                                          version < 13000 ? "-cu12" : "", version_text(version));
  return fmt::format(
      "NVRTC may be newer than the driver, which runs code made by CUDA {} or older: "
      "install a newer driver, or an NVRTC of that version (pip install '{}')",
      version_text(version), package);
}

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

gpu::Vendor vendor() {
  return {.backend = "cuda",
          .platform = "CUDA",
          .driver = "NVIDIA's driver",
          .look = "see what nvidia-smi says, and whether CUDA_VISIBLE_DEVICES hides it",
          .blocking = "CUDA_LAUNCH_BLOCKING=1",
          .own_version = "/sys/module/nvidia/version",
          .dlpack = 2,
          .version = version_text,
          .architecture = [](gpu::DeviceOrdinal /*device*/, int major,
                             int minor) { return architecture(major, minor); },
          .advice_on_code = advice_on_code,
          .deciding_code = deciding_code(),
          .repeats_from = 12040};
}

const DeviceVendor device_vendor(gpu::table_of(
    "cuda", [] { return load_driver(driver_candidates()); }, fitting_image));

}  // namespace op2::runtime::cuda
