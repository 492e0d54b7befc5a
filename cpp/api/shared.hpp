// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "api/loops.hpp"
#include "api/tuned.hpp"
#include "dispatch/operations.hpp"
#include "exec/program.hpp"
#include "libs/vectors.hpp"
#include "mesh/coherence.hpp"
#include "plan/plan_cache.hpp"
#include "runtime/device_mirror.hpp"
#include "runtime/timing.hpp"

namespace op2::api {

/// @brief Facts about all loops of a name, backend and strategy.
struct MetLoops {
  std::shared_ptr<runtime::Timing> timing;
  std::set<std::string> rejected = {};  ///< why other compiled forms did not suit the mesh
  std::set<std::string> measured = {};  ///< measurements that chose the code
};

/// @brief Data shared by all loops of the process.
struct Shared {
  const std::shared_ptr<mesh::Coherence> coherence = std::make_shared<mesh::Coherence>();
  const std::shared_ptr<plan::PlanCache> plans = std::make_shared<plan::PlanCache>();
  const std::shared_ptr<dispatch::Operations> operations = std::make_shared<dispatch::Operations>();
  std::atomic<bool> asks_libraries = false;  ///< whether `vectors` is not null

  std::mutex mutex;  // guards the members below
  Options options;
  std::shared_ptr<runtime::DeviceMirror> mirror;  ///< of the options' device; null: the host
  std::shared_ptr<const Tuned> tuned;             ///< of the options' folder; null: none
  std::shared_ptr<libs::Vectors> vectors;         ///< libraries of the options; null: none
  std::vector<std::string> missing_libraries;     ///< a line for each that does not open
  /// By name; the vendor of the devices, null for the host.
  std::map<std::string, const runtime::DeviceVendor*> backends = {{"sequential", nullptr},
                                                                  {"openmp", nullptr}};
  std::map<std::pair<const runtime::DeviceVendor*, int>, std::shared_ptr<runtime::DeviceMirror>>
      mirrors;
  std::map<std::pair<runtime::Device*, const unsigned char*>, std::shared_ptr<exec::Program>>
      programs;
  std::map<std::tuple<std::string, std::string, std::string>, MetLoops> met;
};

/// @brief The only object. Never destroyed: drivers may be gone before.
[[nodiscard]] Shared& shared();

/// @brief Threads of a loop.
[[nodiscard]] int n_threads_of(const Options& options);

/// @brief The program of a loop on a device, loaded once.
/// @param[in] images The compiled forms of the program.
/// @throws UnsupportedError if none is for this device.
[[nodiscard]] std::shared_ptr<exec::Program> program_on(runtime::Device& device,
                                                        const std::string& loop,
                                                        const std::vector<Image>& images);

}  // namespace op2::api
