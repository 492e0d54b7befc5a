// SPDX-License-Identifier: BSD-3-Clause
// What the adaptor takes HIP's functions and numbers to be, against AMD's header.
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include "jit/gpu/library.hpp"
#include "runtime/hip/adaptor.hpp"

namespace {

using namespace op2::runtime;

/// As many arguments, each as wide: pointers have other types on the two sides.
template <class Left, class Right>
struct Fits;
template <class L, class... Ls, class R, class... Rs>
struct Fits<L (*)(Ls...), R (*)(Rs...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(Ls) == sizeof...(Rs)) return ((sizeof(Ls) == sizeof(Rs)) && ...);
    return false;
  }();
};

#define FITS(table, member, function) \
  static_assert(Fits<decltype(table::member), decltype(&function)>::value, #function)

FITS(gpu::Driver, init, hipInit);
FITS(gpu::Driver, driver_get_version, hipDriverGetVersion);
FITS(gpu::Driver, device_get_count, hipGetDeviceCount);
FITS(gpu::Driver, device_get, hipDeviceGet);
FITS(gpu::Driver, device_get_name, hipDeviceGetName);
FITS(gpu::Driver, device_total_mem, hipDeviceTotalMem);
FITS(gpu::Driver, device_get_attribute, hipDeviceGetAttribute);
FITS(gpu::Driver, pointer_get_attribute, hipPointerGetAttribute);
FITS(gpu::Driver, primary_ctx_retain, hipDevicePrimaryCtxRetain);
FITS(gpu::Driver, primary_ctx_release, hipDevicePrimaryCtxRelease);
FITS(gpu::Driver, ctx_get_current, hipCtxGetCurrent);
FITS(gpu::Driver, ctx_push_current, hipCtxPushCurrent);
FITS(gpu::Driver, ctx_pop_current, hipCtxPopCurrent);
FITS(gpu::Driver, stream_create, hipStreamCreateWithFlags);
FITS(gpu::Driver, stream_destroy, hipStreamDestroy);
FITS(gpu::Driver, stream_synchronize, hipStreamSynchronize);
FITS(gpu::Driver, stream_begin_capture, hipStreamBeginCapture);
FITS(gpu::Driver, stream_end_capture, hipStreamEndCapture);
FITS(gpu::Driver, stream_get_capture_info, hipStreamGetCaptureInfo_v2);
FITS(gpu::Driver, stream_update_capture_dependencies, hipStreamUpdateCaptureDependencies);
FITS(gpu::Driver, graph_instantiate, hipGraphInstantiateWithFlags);
FITS(gpu::Driver, graph_launch, hipGraphLaunch);
FITS(gpu::Driver, graph_destroy, hipGraphDestroy);
FITS(gpu::Driver, graph_exec_destroy, hipGraphExecDestroy);
FITS(gpu::Driver, event_create, hipEventCreateWithFlags);
FITS(gpu::Driver, event_record, hipEventRecord);
FITS(gpu::Driver, event_synchronize, hipEventSynchronize);
FITS(gpu::Driver, event_query, hipEventQuery);
FITS(gpu::Driver, event_elapsed_time, hipEventElapsedTime);
FITS(gpu::Driver, event_destroy, hipEventDestroy);
FITS(gpu::Driver, mem_get_info, hipMemGetInfo);
FITS(gpu::Driver, mem_free, hipFree);
FITS(gpu::Driver, mem_free_async, hipFreeAsync);
FITS(gpu::Driver, device_get_default_mem_pool, hipDeviceGetDefaultMemPool);
FITS(gpu::Driver, mem_pool_set_attribute, hipMemPoolSetAttribute);
FITS(gpu::Driver, mem_pool_trim_to, hipMemPoolTrimTo);
FITS(gpu::Driver, mem_free_host, hipHostFree);
FITS(gpu::Driver, memcpy_htod_async, hipMemcpyHtoDAsync);
FITS(gpu::Driver, memcpy_dtoh_async, hipMemcpyDtoHAsync);
FITS(gpu::Driver, memcpy_dtod_async, hipMemcpyDtoDAsync);
FITS(gpu::Driver, memset_d8_async, hipMemsetD8Async);
FITS(gpu::Driver, memset_d32_async, hipMemsetD32Async);
FITS(gpu::Driver, module_load_data, hipModuleLoadData);
FITS(gpu::Driver, module_unload, hipModuleUnload);
FITS(gpu::Driver, module_get_function, hipModuleGetFunction);
FITS(gpu::Driver, module_get_global, hipModuleGetGlobal);
FITS(gpu::Driver, func_get_attribute, hipFuncGetAttribute);
FITS(gpu::Driver, resident_blocks, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor);
FITS(gpu::Driver, launch_kernel, hipModuleLaunchKernel);

using Rtc = op2::jit::gpu::Library;
FITS(Rtc, version, hiprtcVersion);
FITS(Rtc, get_error_string, hiprtcGetErrorString);
FITS(Rtc, create_program, hiprtcCreateProgram);
FITS(Rtc, destroy_program, hiprtcDestroyProgram);
FITS(Rtc, compile_program, hiprtcCompileProgram);
FITS(Rtc, get_program_log_size, hiprtcGetProgramLogSize);
FITS(Rtc, get_program_log, hiprtcGetProgramLog);
FITS(Rtc, get_cubin_size, hiprtcGetCodeSize);
FITS(Rtc, get_cubin, hiprtcGetCode);
static_assert(int{HIPRTC_SUCCESS} == op2::jit::gpu::success);
static_assert(int{HIPRTC_ERROR_COMPILATION} == op2::jit::gpu::compilation_failed);

// These are overloaded by templates in C++.
template <class Function>
constexpr bool takes(Function /*function*/) {
  return true;
}
static_assert(takes<hipError_t (*)(void**, size_t)>(hipMalloc));
static_assert(takes<hipError_t (*)(void**, size_t, unsigned)>(hipHostMalloc));
static_assert(takes<hipError_t (*)(void**, size_t, hipStream_t)>(hipMallocAsync));
static_assert(takes<const char* (*)(hipError_t)>(hipGetErrorName));
static_assert(takes<const char* (*)(hipError_t)>(hipGetErrorString));

#define NUMBER(ours, theirs) \
  static_assert(static_cast<int>(ours) == static_cast<int>(theirs), #theirs)
#define ATTRIBUTE(ours, theirs) NUMBER(hip::attribute_number(gpu::ours), theirs)
ATTRIBUTE(max_threads_per_block, hipDeviceAttributeMaxThreadsPerBlock);
ATTRIBUTE(max_shared_memory_per_block, hipDeviceAttributeMaxSharedMemoryPerBlock);
ATTRIBUTE(warp_size, hipDeviceAttributeWarpSize);
ATTRIBUTE(multiprocessor_count, hipDeviceAttributeMultiprocessorCount);
ATTRIBUTE(compute_capability_major, hipDeviceAttributeComputeCapabilityMajor);
ATTRIBUTE(compute_capability_minor, hipDeviceAttributeComputeCapabilityMinor);
ATTRIBUTE(memory_pools_supported, hipDeviceAttributeMemoryPoolsSupported);
NUMBER(gpu::pointer_memory_type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE);
NUMBER(0, hipMemoryTypeHost);
NUMBER(gpu::pool_release_threshold, hipMemPoolAttrReleaseThreshold);
NUMBER(gpu::function_max_threads_per_block, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
NUMBER(gpu::stream_non_blocking, hipStreamNonBlocking);
NUMBER(gpu::event_disable_timing, hipEventDisableTiming);
NUMBER(gpu::capture_relaxed, hipStreamCaptureModeRelaxed);
NUMBER(gpu::set_capture_dependencies, hipStreamSetCaptureDependencies);
NUMBER(gpu::success, hipSuccess);
NUMBER(gpu::out_of_memory, hipErrorOutOfMemory);
NUMBER(gpu::not_initialized, hipErrorNotInitialized);
NUMBER(gpu::deinitialized, hipErrorDeinitialized);
NUMBER(gpu::no_device, hipErrorNoDevice);
NUMBER(gpu::invalid_device, hipErrorInvalidDevice);
NUMBER(gpu::invalid_image, hipErrorInvalidImage);
NUMBER(gpu::no_binary_for_gpu, hipErrorNoBinaryForGpu);
NUMBER(gpu::not_found, hipErrorNotFound);
NUMBER(gpu::illegal_address, hipErrorIllegalAddress);
NUMBER(gpu::launch_out_of_resources, hipErrorLaunchOutOfResources);

}  // namespace
