// SPDX-License-Identifier: BSD-3-Clause
// What the adaptor takes HIP's functions and numbers to be, against AMD's header.
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include "jit/nvrtc/api.hpp"
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

FITS(cuda::Driver, init, hipInit);
FITS(cuda::Driver, driver_get_version, hipDriverGetVersion);
FITS(cuda::Driver, device_get_count, hipGetDeviceCount);
FITS(cuda::Driver, device_get, hipDeviceGet);
FITS(cuda::Driver, device_get_name, hipDeviceGetName);
FITS(cuda::Driver, device_total_mem, hipDeviceTotalMem);
FITS(cuda::Driver, device_get_attribute, hipDeviceGetAttribute);
FITS(cuda::Driver, pointer_get_attribute, hipPointerGetAttribute);
FITS(cuda::Driver, primary_ctx_retain, hipDevicePrimaryCtxRetain);
FITS(cuda::Driver, primary_ctx_release, hipDevicePrimaryCtxRelease);
FITS(cuda::Driver, ctx_get_current, hipCtxGetCurrent);
FITS(cuda::Driver, ctx_push_current, hipCtxPushCurrent);
FITS(cuda::Driver, ctx_pop_current, hipCtxPopCurrent);
FITS(cuda::Driver, stream_create, hipStreamCreateWithFlags);
FITS(cuda::Driver, stream_destroy, hipStreamDestroy);
FITS(cuda::Driver, stream_synchronize, hipStreamSynchronize);
FITS(cuda::Driver, stream_begin_capture, hipStreamBeginCapture);
FITS(cuda::Driver, stream_end_capture, hipStreamEndCapture);
FITS(cuda::Driver, stream_get_capture_info, hipStreamGetCaptureInfo_v2);
FITS(cuda::Driver, stream_update_capture_dependencies, hipStreamUpdateCaptureDependencies);
FITS(cuda::Driver, graph_instantiate, hipGraphInstantiateWithFlags);
FITS(cuda::Driver, graph_launch, hipGraphLaunch);
FITS(cuda::Driver, graph_destroy, hipGraphDestroy);
FITS(cuda::Driver, graph_exec_destroy, hipGraphExecDestroy);
FITS(cuda::Driver, event_create, hipEventCreateWithFlags);
FITS(cuda::Driver, event_record, hipEventRecord);
FITS(cuda::Driver, event_synchronize, hipEventSynchronize);
FITS(cuda::Driver, event_query, hipEventQuery);
FITS(cuda::Driver, event_elapsed_time, hipEventElapsedTime);
FITS(cuda::Driver, event_destroy, hipEventDestroy);
FITS(cuda::Driver, mem_get_info, hipMemGetInfo);
FITS(cuda::Driver, mem_free, hipFree);
FITS(cuda::Driver, mem_free_async, hipFreeAsync);
FITS(cuda::Driver, device_get_default_mem_pool, hipDeviceGetDefaultMemPool);
FITS(cuda::Driver, mem_pool_set_attribute, hipMemPoolSetAttribute);
FITS(cuda::Driver, mem_pool_trim_to, hipMemPoolTrimTo);
FITS(cuda::Driver, mem_free_host, hipHostFree);
FITS(cuda::Driver, memcpy_htod_async, hipMemcpyHtoDAsync);
FITS(cuda::Driver, memcpy_dtoh_async, hipMemcpyDtoHAsync);
FITS(cuda::Driver, memcpy_dtod_async, hipMemcpyDtoDAsync);
FITS(cuda::Driver, memset_d8_async, hipMemsetD8Async);
FITS(cuda::Driver, memset_d32_async, hipMemsetD32Async);
FITS(cuda::Driver, module_load_data, hipModuleLoadData);
FITS(cuda::Driver, module_unload, hipModuleUnload);
FITS(cuda::Driver, module_get_function, hipModuleGetFunction);
FITS(cuda::Driver, module_get_global, hipModuleGetGlobal);
FITS(cuda::Driver, func_get_attribute, hipFuncGetAttribute);
FITS(cuda::Driver, resident_blocks, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor);
FITS(cuda::Driver, launch_kernel, hipModuleLaunchKernel);

using Rtc = op2::jit::nvrtc::Library;
FITS(Rtc, version, hiprtcVersion);
FITS(Rtc, get_error_string, hiprtcGetErrorString);
FITS(Rtc, create_program, hiprtcCreateProgram);
FITS(Rtc, destroy_program, hiprtcDestroyProgram);
FITS(Rtc, compile_program, hiprtcCompileProgram);
FITS(Rtc, get_program_log_size, hiprtcGetProgramLogSize);
FITS(Rtc, get_program_log, hiprtcGetProgramLog);
FITS(Rtc, get_cubin_size, hiprtcGetCodeSize);
FITS(Rtc, get_cubin, hiprtcGetCode);
static_assert(int{HIPRTC_SUCCESS} == op2::jit::nvrtc::success);
static_assert(int{HIPRTC_ERROR_COMPILATION} == op2::jit::nvrtc::compilation_failed);

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
#define ATTRIBUTE(ours, theirs) NUMBER(hip::attribute_number(cuda::ours), theirs)
ATTRIBUTE(max_threads_per_block, hipDeviceAttributeMaxThreadsPerBlock);
ATTRIBUTE(max_shared_memory_per_block, hipDeviceAttributeMaxSharedMemoryPerBlock);
ATTRIBUTE(warp_size, hipDeviceAttributeWarpSize);
ATTRIBUTE(multiprocessor_count, hipDeviceAttributeMultiprocessorCount);
ATTRIBUTE(compute_capability_major, hipDeviceAttributeComputeCapabilityMajor);
ATTRIBUTE(compute_capability_minor, hipDeviceAttributeComputeCapabilityMinor);
ATTRIBUTE(memory_pools_supported, hipDeviceAttributeMemoryPoolsSupported);
NUMBER(cuda::pointer_memory_type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE);
NUMBER(0, hipMemoryTypeHost);
NUMBER(cuda::pool_release_threshold, hipMemPoolAttrReleaseThreshold);
NUMBER(cuda::function_max_threads_per_block, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
NUMBER(cuda::stream_non_blocking, hipStreamNonBlocking);
NUMBER(cuda::event_disable_timing, hipEventDisableTiming);
NUMBER(cuda::capture_relaxed, hipStreamCaptureModeRelaxed);
NUMBER(cuda::set_capture_dependencies, hipStreamSetCaptureDependencies);
NUMBER(cuda::success, hipSuccess);
NUMBER(cuda::out_of_memory, hipErrorOutOfMemory);
NUMBER(cuda::not_initialized, hipErrorNotInitialized);
NUMBER(cuda::deinitialized, hipErrorDeinitialized);
NUMBER(cuda::no_device, hipErrorNoDevice);
NUMBER(cuda::invalid_device, hipErrorInvalidDevice);
NUMBER(cuda::invalid_image, hipErrorInvalidImage);
NUMBER(cuda::no_binary_for_gpu, hipErrorNoBinaryForGpu);
NUMBER(cuda::not_found, hipErrorNotFound);
NUMBER(cuda::illegal_address, hipErrorIllegalAddress);
NUMBER(cuda::launch_out_of_resources, hipErrorLaunchOutOfResources);

}  // namespace
