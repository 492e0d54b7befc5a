// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/executable.hpp"
#include "mesh/map_table.hpp"
#include "plan/arrays.hpp"
#include "runtime/device_mirror.hpp"
#include "runtime/launch_list.hpp"

namespace op2::runtime {

/// @brief The plan of a loop in the form for a device.
struct DevicePlan {
  plan::Arrays arrays;
  std::int64_t n_items = 0;
  std::int64_t n_lanes = 0;                    ///< of a block, wanted by the user; 0: by the device
  std::vector<std::int64_t> strides = {};      ///< of each argument: rows of its Dat, in layout SoA
  std::vector<plan::HostArray> matrices = {};  ///< by Parameter::index of role matrix
  std::int64_t item_bytes = 0;                 ///< moved by an item; 0: unknown
  Tuning tuning = {};                          ///< for the device's class
  std::int64_t begin = 0;                      ///< the first item
};

/// @brief A loop's launches on a device, ready but for the addresses of its Buffers.
///
/// The constructor does everything that depends on the plan, so run() only fills in addresses and
/// enqueues: under a microsecond beside the vendor's own cost.
class DeviceLoop {
 public:
  /// @param[in] maps Unique Maps, by Parameter::index of role map.
  DeviceLoop(const exec::Executable& executable, std::shared_ptr<DeviceMirror> mirror,
             std::span<const std::shared_ptr<const mesh::MapTable>> maps, const DevicePlan& plan);

  /// @brief Enqueue all launches.
  /// @param[in] addresses On the device: of the arguments that are data or constants, in the order
  /// of Executable::arguments.
  /// @param[in] loop For messages; must live as long as this object.
  /// @param[in] span As for Device::launch.
  void run(std::span<void* const> addresses, const std::string& loop, DeviceSpan* span = nullptr);

  [[nodiscard]] std::size_t n_launches() const { return launches_.size(); }
  /// @brief Whether run() would enqueue the same launches again for the same addresses: no scratch
  /// memory is allocated anew for every run.
  [[nodiscard]] bool is_repeatable() const { return scratch_.empty(); }
  /// @brief Scratch memory as run() allocates it. Holding it while values are brought finds out
  /// that the device is full before anything is marked as written.
  /// @throws OutOfMemoryError if the device is full.
  [[nodiscard]] std::vector<std::shared_ptr<void>> scratch(const std::string& loop) const;
  /// @brief Bytes of the largest scratch memory allocated for every run.
  [[nodiscard]] std::int64_t changing_bytes() const;

 private:
  struct Prepared {
    DeviceKernel* kernel = nullptr;
    Grid grid;
    std::vector<LaunchArgument> arguments;
  };
  /// Where an address goes: argument `position` of launch `launch`.
  struct Patch {
    std::size_t launch;
    std::size_t position;
    std::size_t from;  // of addresses, or number of scratch memory
  };

  void place_fixed(const exec::Executable& executable,
                   std::span<const std::shared_ptr<const mesh::MapTable>> maps,
                   const DevicePlan& plan);
  /// Give scratch memory above this size back between runs, so loops can share the memory: all work
  /// is enqueued in order.
  void place_scratch(std::int64_t kept_scratch_bytes);

  std::shared_ptr<DeviceMirror> mirror_;
  std::shared_ptr<exec::Program> program_;
  LaunchList list_;
  std::vector<Prepared> launches_;
  std::vector<Patch> buffers_;
  std::vector<Patch> scratch_;
  std::vector<std::shared_ptr<void>> fixed_;  // Maps, plan arrays and small scratch, kept alive
};

}  // namespace op2::runtime
