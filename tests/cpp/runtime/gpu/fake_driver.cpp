// SPDX-License-Identifier: BSD-3-Clause
#include "fake_driver.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "runtime/cuda/adaptor.hpp"

namespace op2::runtime::gpu::testing {
namespace {

FakeGpu* gpu = nullptr;

template <class Handle>
Handle handle(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

Result error_name(Result error, const char** text) {
  *text = error == illegal_address ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OTHER";
  return success;
}

Result error_string(Result error, const char** text) {
  *text = error == illegal_address ? "an illegal memory access was encountered" : "something else";
  return success;
}

Result attribute(int* value, DeviceAttribute which, DeviceOrdinal) {
  const std::map<int, int> values = {{max_threads_per_block, 1024},
                                     {max_shared_memory_per_block, 49152},
                                     {max_shared_memory_on_request, 232448},
                                     {warp_size, 32},
                                     {multiprocessor_count, 132},
                                     {compute_capability_major, gpu->capability},
                                     {compute_capability_minor, 0},
                                     {memory_pools_supported, gpu->has_pools ? 1 : 0}};
  *value = values.at(which);
  return success;
}

Result device_name(char* name, int length, DeviceOrdinal) {
  std::strncpy(name, "NVIDIA Imagination", static_cast<std::size_t>(length));
  return success;
}

Result push(ContextHandle context) {
  gpu->current.push_back(context);
  return success;
}

Result pop(ContextHandle* context) {
  *context = gpu->current.back();
  gpu->current.pop_back();
  return success;
}

Result get_current(ContextHandle* context) {
  *context = gpu->current.empty() ? nullptr : gpu->current.back();
  return success;
}

Result allocate(DeviceAddress* memory, std::size_t bytes) {
  if (gpu->current.empty()) return invalid_device;
  if (gpu->pending_fault != success) return gpu->pending_fault;
  if (gpu->n_used + bytes > gpu->n_bytes) return out_of_memory;
  void* block = std::malloc(bytes);
  std::memset(block, 0x7f, bytes);
  *memory = reinterpret_cast<std::uintptr_t>(block);
  gpu->blocks[*memory] = bytes;
  gpu->n_used += bytes;
  return success;
}

Result release(DeviceAddress memory) {
  gpu->n_used -= gpu->blocks.at(memory);
  gpu->blocks.erase(memory);
  std::free(handle<void*>(memory));
  return success;
}

Result synchronize(StreamHandle) {
  ++gpu->n_waits;
  return gpu->pending_fault;
}

Result copy(void* to, const void* from, std::size_t bytes) {
  if (gpu->current.empty()) return invalid_device;
  if (gpu->pending_fault != success) return gpu->pending_fault;
  std::memcpy(to, from, bytes);
  return success;
}

Result load_module(ModuleHandle* module, const void* image) {
  if (gpu->refuses_programs != success) return gpu->refuses_programs;
  // The image lists the kernels.
  *module = handle<ModuleHandle>(
      reinterpret_cast<std::uintptr_t>(new std::string(static_cast<const char*>(image))));
  ++gpu->n_modules;
  return success;
}

Result find_kernel(FunctionHandle* function, ModuleHandle module, const char* name) {
  const auto* kernels = reinterpret_cast<const std::string*>(module);
  const std::size_t found = kernels->find(name);
  if (found == std::string::npos) return not_found;
  *function = handle<FunctionHandle>(reinterpret_cast<std::uintptr_t>(kernels->data() + found));
  return success;
}

const StreamHandle capture_stream = handle<StreamHandle>(0x30);
constexpr std::uintptr_t first_node = 0x1000;

/// Put a launch into the graph that is being captured.
void capture(FakeGpu::Launch launched) {
  for (const GraphNodeHandle node : gpu->next_waits) {
    launched.after.push_back(reinterpret_cast<std::uintptr_t>(node) - first_node);
  }
  gpu->next_waits = {handle<GraphNodeHandle>(first_node + gpu->captured.size())};
  gpu->captured.push_back(std::move(launched));
}

/// Do something to memory now, or note it in the graph that is being captured.
Result command(const char* name, StreamHandle stream, std::function<void()> action) {
  if (gpu->current.empty()) return invalid_device;
  if (gpu->pending_fault != success) return gpu->pending_fault;
  if (gpu->is_capturing && stream == capture_stream) {
    capture({name, 0, 0, {}, {}, false, std::move(action)});
  } else {
    action();
  }
  return success;
}

double compared(std::uint64_t memory, std::uint64_t number, std::uint64_t kind) {
  const auto read = [memory](auto found) {
    std::memcpy(&found, handle<const void*>(memory), sizeof(found));
    return static_cast<double>(found);
  };
  switch (kind) {
    case 1:
      return read(double{});
    case 2:
      return read(float{});
    case 3:
      return read(std::int32_t{});
    case 4:
      return read(std::uint32_t{});
    default:
      return std::bit_cast<double>(number);
  }
}

constexpr ConditionalHandle condition = 0xc0;

/// What the deciding kernel does, which is PTX that nothing here runs.
std::function<void()> decision(void** parameters) {
  std::array<std::uint64_t, 8> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::memcpy(&words[i], parameters[i], sizeof(words[i]));
  }
  return [words] {
    if (words[0] != condition) return;
    auto* n = handle<std::uint32_t*>(words[1]);
    ++*n;
    const double left = compared(words[2], words[4], words[6] & 15U);
    const double right = compared(words[3], words[5], words[6] >> 4U & 15U);
    const bool holds = left > right || ((words[6] & 256U) != 0 && left == right);
    gpu->is_repeated = holds && *n < static_cast<std::uint32_t>(words[7]);
  };
}

void play(const std::vector<FakeGpu::Launch>& launches) {
  for (const FakeGpu::Launch& one : launches) {
    if (one.action) one.action();
    if (one.kernel != "while") gpu->launches.push_back(one);
  }
}

Result launch(FunctionHandle function, unsigned n_blocks, unsigned, unsigned, unsigned n_lanes,
              unsigned, unsigned, unsigned shared_bytes, StreamHandle stream, void** parameters,
              void**) {
  if (gpu->current.empty()) return invalid_device;
  if (gpu->pending_fault != success) return gpu->pending_fault;
  const char* text = reinterpret_cast<const char*>(function);
  const std::string name(text, std::strcspn(text, " ("));
  if (name == gpu->oversized_kernel) return launch_out_of_resources;
  FakeGpu::Launch launched{name, n_blocks, n_lanes, {}};
  launched.shared_bytes = shared_bytes;
  if (gpu->effects.contains(name)) launched.action = gpu->effects.at(name);
  if (name == "op2_decide") launched.action = decision(parameters);
  for (std::size_t i = 0; i < gpu->n_values; ++i) {
    launched.values.push_back(*static_cast<const long long*>(parameters[i]));
  }
  const bool is_captured = gpu->is_capturing && stream == capture_stream;
  if (is_captured) {
    capture(std::move(launched));
    return success;
  }
  if (launched.action) launched.action();
  gpu->launches.push_back(std::move(launched));
  if (name == gpu->broken_kernel) gpu->pending_fault = illegal_address;
  return success;
}

Result launch_early(const LaunchConfig* config, FunctionHandle function, void** parameters,
                    void** extra) {
  const bool is_early =
      config->n_attributes == 1 &&
      config->attributes->id == LaunchAttribute::programmatic_stream_serialization &&
      config->attributes->value == 1;
  if (is_early) ++gpu->n_early;
  const std::size_t n_captured = gpu->captured.size();
  const Result launched = launch(function, config->grid[0], config->grid[1], config->grid[2],
                                 config->block[0], config->block[1], config->block[2],
                                 config->shared_bytes, config->stream, parameters, extra);
  if (gpu->captured.size() > n_captured) gpu->captured.back().is_early = is_early;
  return launched;
}

void set_devices(Driver& driver) {
  driver.init = [](unsigned) { return success; };
  driver.driver_get_version = [](int* version) {
    *version = gpu->version;
    return success;
  };
  driver.get_error_name = error_name;
  driver.get_error_string = error_string;
  driver.device_get_count = [](int* count) {
    *count = gpu->n_devices;
    return success;
  };
  driver.device_get = [](DeviceOrdinal* device, int index) {
    *device = index;
    return success;
  };
  driver.device_get_name = device_name;
  driver.device_total_mem = [](std::size_t* bytes, DeviceOrdinal) {
    *bytes = gpu->n_bytes;
    return success;
  };
  driver.device_get_attribute = attribute;
  driver.primary_ctx_retain = [](ContextHandle* context, DeviceOrdinal) {
    *context = handle<ContextHandle>(0x10);
    ++gpu->n_contexts;
    return success;
  };
  driver.primary_ctx_release = [](DeviceOrdinal) {
    --gpu->n_contexts;
    return success;
  };
  driver.ctx_get_current = get_current;
  driver.ctx_push_current = push;
  driver.ctx_pop_current = pop;
  driver.stream_create = [](StreamHandle* stream, unsigned flags) {
    *stream = flags == stream_non_blocking ? capture_stream : handle<StreamHandle>(0x20);
    ++gpu->n_streams;
    return success;
  };
  driver.stream_destroy = [](StreamHandle) {
    --gpu->n_streams;
    return success;
  };
  driver.stream_synchronize = synchronize;
  driver.event_create = [](EventHandle* event, unsigned) {
    *event = handle<EventHandle>(static_cast<std::uintptr_t>(0x40 + ++gpu->n_made));
    ++gpu->n_events;
    return success;
  };
  driver.event_record = [](EventHandle event, StreamHandle) {
    gpu->recorded[event] = static_cast<float>(gpu->launches.size());
    return gpu->pending_fault;
  };
  driver.event_query = [](EventHandle) { return gpu->is_busy ? 600 : gpu->pending_fault; };
  driver.event_elapsed_time = [](float* milliseconds, EventHandle from, EventHandle to) {
    *milliseconds = gpu->recorded.at(to) - gpu->recorded.at(from);
    return success;
  };
  driver.event_synchronize = [](EventHandle) { return gpu->pending_fault; };
  driver.event_destroy = [](EventHandle) {
    --gpu->n_events;
    return success;
  };
}

void set_memory(Driver& driver) {
  driver.mem_get_info = [](std::size_t* free, std::size_t* total) {
    *free = gpu->n_bytes - gpu->n_used;
    *total = gpu->n_bytes;
    return success;
  };
  driver.mem_alloc = allocate;
  driver.mem_free = release;
  driver.mem_alloc_async = [](DeviceAddress* memory, std::size_t bytes, StreamHandle) {
    return allocate(memory, bytes);
  };
  driver.mem_free_async = [](DeviceAddress memory, StreamHandle) { return release(memory); };
  driver.device_get_default_mem_pool = [](PoolHandle* pool, DeviceOrdinal) {
    *pool = handle<PoolHandle>(0x30);
    return success;
  };
  driver.mem_pool_set_attribute = [](PoolHandle, PoolAttribute, void*) { return success; };
  driver.mem_pool_trim_to = [](PoolHandle, std::size_t) {
    ++gpu->n_trims;
    return success;
  };
  driver.mem_host_alloc = [](void** memory, std::size_t bytes, unsigned) {
    *memory = std::malloc(bytes);
    ++gpu->n_host_blocks;
    return success;
  };
  driver.mem_free_host = [](void* memory) {
    std::free(memory);
    --gpu->n_host_blocks;
    return success;
  };
  driver.pointer_get_attribute = [](void* data, PointerAttribute, DeviceAddress) {
    if (!gpu->is_page_locked) return 1;
    *static_cast<unsigned*>(data) = 1;
    return success;
  };
  driver.memcpy_htod_async = [](DeviceAddress to, const void* from, std::size_t bytes,
                                StreamHandle) { return copy(handle<void*>(to), from, bytes); };
  driver.memcpy_dtoh_async = [](void* to, DeviceAddress from, std::size_t bytes, StreamHandle) {
    return copy(to, handle<const void*>(from), bytes);
  };
  driver.memcpy_dtod_async = [](DeviceAddress to, DeviceAddress from, std::size_t bytes,
                                StreamHandle stream) {
    return command("memcpy", stream,
                   [=] { std::memcpy(handle<void*>(to), handle<const void*>(from), bytes); });
  };
  driver.memset_d8_async = [](DeviceAddress to, unsigned char value, std::size_t bytes,
                              StreamHandle stream) {
    return command("memset", stream, [=] { std::memset(handle<void*>(to), value, bytes); });
  };
  driver.memset_d32_async = [](DeviceAddress to, unsigned value, std::size_t words,
                               StreamHandle stream) {
    return command("memset", stream, [=] {
      for (std::size_t i = 0; i < words; ++i) {
        std::memcpy(handle<std::byte*>(to) + 4 * i, &value, sizeof value);
      }
    });
  };
}

void set_code(Driver& driver) {
  driver.module_load_data = load_module;
  driver.module_unload = [](ModuleHandle module) {
    const auto* image = reinterpret_cast<const std::string*>(module);
    const bool is_decider = image->find("op2_decide") != std::string::npos;
    if (is_decider && !gpu->graphs.empty()) gpu->is_used_after_it_went = true;
    delete image;
    --gpu->n_modules;
    return success;
  };
  driver.module_get_function = find_kernel;
  driver.module_get_global = [](DeviceAddress* memory, std::size_t* bytes, ModuleHandle module,
                                const char* name) {
    const auto* image = reinterpret_cast<const std::string*>(module);
    if (image->find(name) == std::string::npos) return not_found;
    const bool is_number = std::string_view(name).starts_with("op2_shared_");
    *memory = is_number ? reinterpret_cast<DeviceAddress>(&gpu->requested_bytes) : 0x50;
    *bytes = is_number ? sizeof(int) : 1;
    return success;
  };
  driver.func_set_attribute = [](FunctionHandle, FunctionAttribute which, int value) {
    if (which != function_requested_shared_bytes || value > 232448) return invalid_image;
    gpu->granted.push_back(value);
    return success;
  };
  driver.func_get_attribute = [](int* value, FunctionAttribute, FunctionHandle) {
    *value = 768;
    return success;
  };
  driver.resident_blocks = [](int* blocks, FunctionHandle, int lanes, std::size_t) {
    *blocks = 768 / lanes;
    return success;
  };
  driver.launch_kernel = launch;
  driver.launch_kernel_ex = launch_early;
}

void set_graphs(Driver& driver) {
  driver.stream_begin_capture = [](StreamHandle, CaptureMode) {
    gpu->is_capturing = true;
    gpu->captured.clear();
    gpu->next_waits.clear();
    return success;
  };
  driver.stream_get_capture_info = [](StreamHandle, int* status, std::uint64_t* id, GraphHandle*,
                                      const GraphNodeHandle** dependencies,
                                      std::size_t* n_dependencies) {
    *status = 1;
    *id = 1;
    *dependencies = gpu->next_waits.data();
    *n_dependencies = gpu->next_waits.size();
    return success;
  };
  driver.stream_update_capture_dependencies = [](StreamHandle, GraphNodeHandle* dependencies,
                                                 std::size_t n_dependencies, unsigned flags) {
    if (gpu->refuses_groups != success) return gpu->refuses_groups;
    if (flags != set_capture_dependencies) return invalid_device;
    gpu->next_waits.assign(dependencies, dependencies + n_dependencies);
    return success;
  };
  driver.stream_end_capture = [](StreamHandle, GraphHandle* graph) {
    gpu->is_capturing = false;
    if (gpu->capturing_into != nullptr) {
      *graph = gpu->capturing_into;
      gpu->parts[std::exchange(gpu->capturing_into, nullptr)] = gpu->captured;
      return success;
    }
    *graph = handle<GraphHandle>(0x60);
    ++gpu->n_graphs;
    return success;
  };
  driver.graph_instantiate = [](GraphExecHandle* made, GraphHandle graph, unsigned long long) {
    if (gpu->refuses_graphs != success) return gpu->refuses_graphs;
    *made = handle<GraphExecHandle>(static_cast<std::uintptr_t>(0x70 + gpu->n_instantiated++));
    gpu->graphs[*made] = gpu->parts.contains(graph) ? gpu->parts[graph] : gpu->captured;
    return success;
  };
  driver.graph_launch = [](GraphExecHandle graph, StreamHandle) {
    if (gpu->current.empty()) return invalid_device;
    const auto& launches = gpu->graphs.at(graph);
    ++gpu->n_replays;
    gpu->replayed.push_back(launches.size());
    play(launches);
    return gpu->pending_fault;
  };
  driver.graph_destroy = [](GraphHandle graph) {
    --gpu->n_graphs;
    gpu->parts.erase(graph);
    return success;
  };
  driver.graph_exec_destroy = [](GraphExecHandle graph) {
    gpu->graphs.erase(graph);
    return success;
  };
}

const GraphHandle whole = handle<GraphHandle>(0x90);
GraphHandle body = handle<GraphHandle>(0xa0);

Result refusal(const char* function) {
  return gpu->refuses == function ? Result{801} : success;
}

void set_repetition(Driver& driver) {
  driver.graph_create = [](GraphHandle* graph, unsigned) {
    *graph = whole;
    if (refusal("graph_create") == success) ++gpu->n_graphs;
    return refusal("graph_create");
  };
  driver.graph_get_nodes = [](GraphHandle graph, GraphNodeHandle* nodes, std::size_t* n) {
    *n = gpu->parts[graph].size();
    nodes[0] = handle<GraphNodeHandle>(first_node);
    return refusal("graph_get_nodes");
  };
  driver.graph_conditional_handle_create = [](ConditionalHandle* made, GraphHandle graph,
                                              ContextHandle context, unsigned at_launch, unsigned) {
    *made = condition;
    if (graph != whole || context == nullptr || at_launch != 0) return invalid_device;
    return refusal("graph_conditional_handle_create");
  };
  driver.graph_add_node = [](GraphNodeHandle*, GraphHandle graph, const GraphNodeHandle*,
                             const void*, std::size_t n_after, ConditionalNode* node) {
    const bool is_right = graph == whole && n_after == 1 && node->type == 13 && node->kind == 1 &&
                          node->handle == condition && node->context != nullptr;
    if (!is_right || gpu->is_capturing) return invalid_device;
    node->graphs = &body;
    gpu->parts[graph].push_back({"while", 0, 0, {}, {0}, false, [] {
                                   while (gpu->is_repeated) play(gpu->parts.at(body));
                                 }});
    return refusal("graph_add_node");
  };
  driver.stream_begin_capture_to_graph = [](StreamHandle, GraphHandle graph, const GraphNodeHandle*,
                                            const void*, std::size_t, CaptureMode mode) {
    if (mode != capture_relaxed || gpu->is_capturing) return invalid_device;
    gpu->is_capturing = true;
    gpu->captured.clear();
    gpu->next_waits.clear();
    gpu->capturing_into = graph;
    return refusal("stream_begin_capture_to_graph");
  };
}

}  // namespace

FakeGpu::FakeGpu() {
  gpu = this;
}

FakeGpu::~FakeGpu() {
  gpu = nullptr;
}

std::shared_ptr<const Driver> FakeGpu::driver() const {
  auto driver = std::make_shared<Driver>();
  driver->vendor = cuda::vendor();
  set_devices(*driver);
  set_memory(*driver);
  set_code(*driver);
  if (has_graphs) set_graphs(*driver);
  if (has_graphs) set_repetition(*driver);
  return driver;
}

}  // namespace op2::runtime::gpu::testing
