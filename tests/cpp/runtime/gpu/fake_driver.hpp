// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/gpu/driver.hpp"

namespace op2::runtime::gpu::testing {

/// A GPU of the imagination: its memory is the host's and its kernels note that they were launched.
/// One at a time, because the driver's functions are free functions. Tests that need the real one
/// are in tests/python.
struct FakeGpu {
  struct Launch {
    std::string kernel;
    unsigned n_blocks;
    unsigned n_lanes;
    std::vector<long long> values;        // of the first n_values arguments
    std::vector<std::size_t> after = {};  // in a capture: numbers of those that it waits for
    bool is_early = false;                // it may start while those end
    std::function<void()> action = {};    // what it does
    unsigned shared_bytes = 0;
  };

  std::size_t n_bytes = 1000000;
  std::size_t n_used = 0;
  bool has_pools = true;
  bool is_page_locked = false;
  int n_devices = 1;
  std::size_t n_values = 0;
  std::string broken_kernel;       // faults when it runs, which the next wait finds out
  std::string oversized_kernel;    // cannot be launched, which is no fault
  Result pending_fault = success;  // what every call says once a kernel has faulted
  Result refuses_programs = success;
  std::map<DeviceAddress, std::size_t> blocks;
  std::vector<Launch> launches;
  std::vector<ContextHandle> current;  // the calling thread's contexts; one thread only
  int n_contexts = 0;
  int n_streams = 0;
  int n_events = 0;
  int n_made = 0;                         // events, ever
  bool is_busy = false;                   // what an event says that is asked
  std::map<EventHandle, float> recorded;  // after how many launches, each of a millisecond
  int n_host_blocks = 0;                  // of page-locked memory
  int n_modules = 0;
  int n_waits = 0;
  int n_trims = 0;
  int n_early = 0;               // launches that may start while the one before ends
  int capability = 9;            // its first digit
  int requested_bytes = 100000;  // what programs say of kernels with `op2_shared_` before the name
  std::vector<int> granted;      // to kernels, of a block's memory

  bool has_graphs = true;
  Result refuses_graphs = success;  // when one is instantiated
  bool is_capturing = false;
  std::vector<Launch> captured;             // since a capture began
  std::vector<GraphNodeHandle> next_waits;  // what the next of them waits for
  Result refuses_groups = success;          // when that is changed
  std::map<GraphExecHandle, std::vector<Launch>> graphs;
  int n_instantiated = 0;
  int n_replays = 0;
  std::vector<std::size_t> replayed;  // launches of each
  int n_graphs = 0;  // not yet destroyed, of those that captures end with or that were made
  std::map<std::string, std::function<void()>> effects;  // of kernels, when they run

  // graphs that repeat themselves
  int version = 13000;
  std::string refuses;                               // the one of the driver's functions that fails
  std::map<GraphHandle, std::vector<Launch>> parts;  // what was captured into
  GraphHandle capturing_into = nullptr;              // null: a graph of its own
  bool is_used_after_it_went = false;                // the condition's code, by a graph
  bool is_repeated = false;                          // what the condition says

  FakeGpu();
  FakeGpu(const FakeGpu&) = delete;
  FakeGpu& operator=(const FakeGpu&) = delete;
  ~FakeGpu();

  /// Its driver; usable while the object lives.
  [[nodiscard]] std::shared_ptr<const Driver> driver() const;
};

}  // namespace op2::runtime::gpu::testing
