// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace op2::runtime::gpu {

// The used part of a GPU's driver: the ABI of CUDA's, with other names in HIP. Names and values are
// CUDA's; no vendor's header is needed to build. Each vendor fills the table in a separate folder.

using Result = int;  // CUresult
inline constexpr Result success = 0;
inline constexpr Result out_of_memory = 2;
inline constexpr Result not_initialized = 3;
inline constexpr Result deinitialized = 4;
inline constexpr Result no_device = 100;
inline constexpr Result invalid_device = 101;
inline constexpr Result invalid_image = 200;
inline constexpr Result no_binary_for_gpu = 209;
inline constexpr Result invalid_ptx = 218;
inline constexpr Result unsupported_ptx_version = 222;
inline constexpr Result not_found = 500;
inline constexpr Result illegal_address = 700;
inline constexpr Result launch_out_of_resources = 701;

using DeviceOrdinal = int;                 // CUdevice
using DeviceAddress = unsigned long long;  // CUdeviceptr
using ContextHandle = struct CUctx_st*;
using ModuleHandle = struct CUmod_st*;
using FunctionHandle = struct CUfunc_st*;
using StreamHandle = struct CUstream_st*;
using EventHandle = struct CUevent_st*;
using PoolHandle = struct CUmemPoolHandle_st*;
using GraphHandle = struct CUgraph_st*;
using GraphNodeHandle = struct CUgraphNode_st*;
using GraphExecHandle = struct CUgraphExec_st*;
using ConditionalHandle = std::uint64_t;  // CUgraphConditionalHandle

enum DeviceAttribute : int {
  max_threads_per_block = 1,
  max_shared_memory_per_block = 8,
  warp_size = 10,
  multiprocessor_count = 16,
  compute_capability_major = 75,
  compute_capability_minor = 76,
  max_shared_memory_on_request = 97,
  memory_pools_supported = 115,
};
enum FunctionAttribute : int {
  function_max_threads_per_block = 0,
  function_requested_shared_bytes = 8,
};
enum PoolAttribute : int { pool_release_threshold = 4 };
enum PointerAttribute : int { pointer_memory_type = 2 };
enum StreamFlag : unsigned { stream_default = 0, stream_non_blocking = 1 };
enum CaptureMode : int { capture_relaxed = 2 };
inline constexpr unsigned set_capture_dependencies = 1;
enum EventFlag : unsigned { event_default = 0, event_disable_timing = 2 };

/// @brief Of a launch: CUlaunchAttribute.
struct LaunchAttribute {
  /// The kernel may start while the kernel before in the stream ends, and waits by itself.
  static constexpr int programmatic_stream_serialization = 6;

  int id = 0;
  alignas(8) int value = 0;
  int rest[15] = {};  // of the vendor's union
};
static_assert(sizeof(LaunchAttribute) == 72);

/// @brief Grid and attributes of a launch: CUlaunchConfig.
struct LaunchConfig {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  StreamHandle stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned n_attributes = 0;
};
static_assert(sizeof(LaunchConfig) == 56);

/// @brief A node that repeats a graph: CUgraphNodeParams with CUDA_CONDITIONAL_NODE_PARAMS.
struct ConditionalNode {
  static constexpr int conditional = 13;  // CU_GRAPH_NODE_TYPE_CONDITIONAL
  static constexpr int repeats = 1;       // CU_GRAPH_COND_TYPE_WHILE

  int type = conditional;
  int reserved[3] = {};
  ConditionalHandle handle = 0;
  int kind = repeats;
  unsigned n_graphs = 1;
  GraphHandle* graphs = nullptr;  // the driver's, after the call
  ContextHandle context = nullptr;
  unsigned char rest[200] = {};  // of the vendor's union
  long long last = 0;
};
static_assert(sizeof(ConditionalNode) == 256);

/// @brief The names around a driver, and its needs of code.
struct Vendor {
  std::string_view backend;
  std::string_view platform;     ///< platform whose version messages give: "CUDA"
  std::string_view driver;       ///< "NVIDIA's driver"
  std::string_view look;         ///< the command to try if there is no GPU
  std::string_view blocking;     ///< the variable that makes launches wait
  std::string_view own_version;  ///< the file with the kernel driver's version
  int dlpack = 0;                ///< DLPack's number for the vendor's devices
  /// The version of the driver's functions in the usual form.
  std::string (*version)(int version) = nullptr;
  /// The compilers' name of code for a GPU: "sm_90".
  std::string (*architecture)(DeviceOrdinal device, int major, int minor) = nullptr;
  /// Why a driver of @p version may refuse code, and the remedy.
  std::string (*advice_on_code)(int version) = nullptr;
  /// Code for any GPU with the kernel that decides whether a graph repeats itself; null if no GPU
  /// can.
  const char* deciding_code = nullptr;
  int repeats_from = 0;  ///< the first version whose driver takes the code
};

/// @brief The driver's functions, named after CUDA's without the prefix `cu`.
///
/// Null only where the comment says so; versions are CUDA's.
struct Driver {
  Vendor vendor = {};
  std::string path;  // of the library; empty for a driver that tests make

  Result (*init)(unsigned flags) = nullptr;
  Result (*driver_get_version)(int* version) = nullptr;
  Result (*get_error_name)(Result error, const char** text) = nullptr;
  Result (*get_error_string)(Result error, const char** text) = nullptr;

  Result (*device_get_count)(int* count) = nullptr;
  Result (*device_get)(DeviceOrdinal* device, int index) = nullptr;
  Result (*device_get_name)(char* name, int length, DeviceOrdinal device) = nullptr;
  Result (*device_total_mem)(std::size_t* bytes, DeviceOrdinal device) = nullptr;
  Result (*device_get_attribute)(int* value, DeviceAttribute attribute,
                                 DeviceOrdinal device) = nullptr;

  Result (*primary_ctx_retain)(ContextHandle* context, DeviceOrdinal device) = nullptr;
  Result (*primary_ctx_release)(DeviceOrdinal device) = nullptr;
  Result (*ctx_get_current)(ContextHandle* context) = nullptr;
  Result (*ctx_push_current)(ContextHandle context) = nullptr;
  Result (*ctx_pop_current)(ContextHandle* context) = nullptr;

  Result (*stream_create)(StreamHandle* stream, unsigned flags) = nullptr;
  Result (*stream_destroy)(StreamHandle stream) = nullptr;
  Result (*stream_synchronize)(StreamHandle stream) = nullptr;

  // the next six are null before CUDA 12.0
  Result (*stream_begin_capture)(StreamHandle stream, CaptureMode mode) = nullptr;
  Result (*stream_end_capture)(StreamHandle stream, GraphHandle* graph) = nullptr;
  /// The dependencies of the next launch belong to the driver, until the next call.
  Result (*stream_get_capture_info)(StreamHandle stream, int* status, std::uint64_t* id,
                                    GraphHandle* graph, const GraphNodeHandle** dependencies,
                                    std::size_t* n_dependencies) = nullptr;
  Result (*stream_update_capture_dependencies)(StreamHandle stream, GraphNodeHandle* dependencies,
                                               std::size_t n_dependencies,
                                               unsigned flags) = nullptr;
  Result (*graph_instantiate)(GraphExecHandle* made, GraphHandle graph,
                              unsigned long long flags) = nullptr;
  Result (*graph_launch)(GraphExecHandle graph, StreamHandle stream) = nullptr;
  Result (*graph_destroy)(GraphHandle graph) = nullptr;
  Result (*graph_exec_destroy)(GraphExecHandle graph) = nullptr;

  // the next five are null before CUDA 12.3
  Result (*graph_create)(GraphHandle* graph, unsigned flags) = nullptr;
  Result (*graph_get_nodes)(GraphHandle graph, GraphNodeHandle* nodes, std::size_t* n) = nullptr;
  Result (*graph_add_node)(GraphNodeHandle* node, GraphHandle graph, const GraphNodeHandle* after,
                           const void* edges, std::size_t n_after,
                           ConditionalNode* node_params) = nullptr;
  Result (*graph_conditional_handle_create)(ConditionalHandle* handle, GraphHandle graph,
                                            ContextHandle context, unsigned at_launch,
                                            unsigned flags) = nullptr;
  Result (*stream_begin_capture_to_graph)(StreamHandle stream, GraphHandle graph,
                                          const GraphNodeHandle* after, const void* edges,
                                          std::size_t n_after, CaptureMode mode) = nullptr;

  Result (*event_create)(EventHandle* event, unsigned flags) = nullptr;
  Result (*event_record)(EventHandle event, StreamHandle stream) = nullptr;
  Result (*event_synchronize)(EventHandle event) = nullptr;
  Result (*event_query)(EventHandle event) = nullptr;
  Result (*event_elapsed_time)(float* milliseconds, EventHandle from, EventHandle to) = nullptr;
  Result (*event_destroy)(EventHandle event) = nullptr;

  Result (*mem_get_info)(std::size_t* free, std::size_t* total) = nullptr;
  Result (*mem_alloc)(DeviceAddress* memory, std::size_t bytes) = nullptr;
  Result (*mem_free)(DeviceAddress memory) = nullptr;
  Result (*mem_alloc_async)(DeviceAddress* memory, std::size_t bytes,
                            StreamHandle stream) = nullptr;  // null before CUDA 11.2
  Result (*mem_free_async)(DeviceAddress memory, StreamHandle stream) = nullptr;  // likewise
  Result (*device_get_default_mem_pool)(PoolHandle* pool,
                                        DeviceOrdinal device) = nullptr;  // likewise
  Result (*mem_pool_set_attribute)(PoolHandle pool, PoolAttribute attribute,
                                   void* value) = nullptr;                        // likewise
  Result (*mem_pool_trim_to)(PoolHandle pool, std::size_t keep_bytes) = nullptr;  // likewise
  Result (*mem_host_alloc)(void** memory, std::size_t bytes, unsigned flags) = nullptr;
  Result (*mem_free_host)(void* memory) = nullptr;
  Result (*pointer_get_attribute)(void* data, PointerAttribute attribute,
                                  DeviceAddress pointer) = nullptr;

  Result (*memcpy_htod_async)(DeviceAddress to, const void* from, std::size_t bytes,
                              StreamHandle stream) = nullptr;
  Result (*memcpy_dtoh_async)(void* to, DeviceAddress from, std::size_t bytes,
                              StreamHandle stream) = nullptr;
  Result (*memcpy_dtod_async)(DeviceAddress to, DeviceAddress from, std::size_t bytes,
                              StreamHandle stream) = nullptr;
  Result (*memset_d8_async)(DeviceAddress to, unsigned char value, std::size_t bytes,
                            StreamHandle stream) = nullptr;
  Result (*memset_d32_async)(DeviceAddress to, unsigned value, std::size_t words,
                             StreamHandle stream) = nullptr;

  Result (*module_load_data)(ModuleHandle* module, const void* image) = nullptr;
  Result (*module_unload)(ModuleHandle module) = nullptr;
  Result (*module_get_function)(FunctionHandle* function, ModuleHandle module,
                                const char* name) = nullptr;
  Result (*module_get_global)(DeviceAddress* memory, std::size_t* bytes, ModuleHandle module,
                              const char* name) = nullptr;
  Result (*func_get_attribute)(int* value, FunctionAttribute attribute,
                               FunctionHandle function) = nullptr;
  /// null: blocks have the memory of max_shared_memory_per_block
  Result (*func_set_attribute)(FunctionHandle function, FunctionAttribute attribute,
                               int value) = nullptr;
  /// null: not asked
  Result (*resident_blocks)(int* blocks, FunctionHandle function, int lanes,
                            std::size_t shared_bytes) = nullptr;
  Result (*launch_kernel)(FunctionHandle function, unsigned grid_x, unsigned grid_y,
                          unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, StreamHandle stream, void** parameters,
                          void** extra) = nullptr;
  Result (*launch_kernel_ex)(const LaunchConfig* config, FunctionHandle function, void** parameters,
                             void** extra) = nullptr;  // null before CUDA 11.8
};

/// @brief Start a driver with known functions. @throws ToolchainError if the driver does not start.
void start(const Driver& driver);

/// @brief The driver's name and words for @p result: "CUDA_ERROR_NO_DEVICE: no CUDA-capable ...".
[[nodiscard]] std::string describe(const Driver& driver, Result result);

}  // namespace op2::runtime::gpu
