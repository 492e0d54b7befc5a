// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/tuning.hpp"
#include "exec/launch_program.hpp"
#include "plan/arrays.hpp"
#include "runtime/device.hpp"

namespace op2::runtime {

/// @brief How lanes are handed out to launches over items.
struct GridRule {
  int n_lanes = 1;               ///< of a block; a power of two
  std::int64_t max_blocks = 1;   ///< beyond, lanes stride
  bool is_by_residence = false;  ///< as many blocks are better as the device holds at a time
  std::int64_t few_blocks = 0;   ///< beyond, each lane takes two items first; 0: one is enough
  bool operator==(const GridRule&) const = default;
};

/// @brief Facts of a loop for the number of lanes.
struct LoopTraits {
  std::int64_t n_lanes_wanted = 0;  ///< of a block, by the user; 0: by the device
  bool is_direct = false;           ///< no Maps: a stream
  bool has_partials = false;        ///< partial results of each block, summed up later
  std::int64_t item_bytes = 0;      ///< moved by an item; 0: unknown
};

/// @brief The rule for a device; the user's request is rounded down to a power of two.
/// @param[in] tuning For the device's class.
[[nodiscard]] GridRule grid_rule(const DeviceInfo& device, const LoopTraits& loop,
                                 const Tuning& tuning);

using LaunchSlot = exec::MemorySlot;

/// @brief A launch, but for addresses.
struct FlatLaunch {
  std::string function;
  Grid grid;
  std::vector<std::variant<LaunchSlot, std::int64_t>> arguments;
  bool needs_all_lanes = false;  ///< of `grid`
  bool operator==(const FlatLaunch&) const = default;
};

/// @brief Scratch memory, see exec::Allocate.
struct LaunchScratch {
  std::int64_t n_bytes = 0;
  bool is_zero = false;
  bool operator==(const LaunchScratch&) const = default;
};

/// @brief All launches of a loop, in order, and the scratch memory they share.
struct LaunchList {
  std::vector<FlatLaunch> launches;
  std::vector<LaunchScratch> scratch;
};

/// @brief The input of an evaluation of a LaunchProgram.
struct LaunchInput {
  std::vector<plan::HostArray> arrays =
      {};                                  ///< [Executable::arguments] of the plan; others: absent
  std::int64_t n_items = 0;                ///< from `begin` to `end`
  std::vector<std::int64_t> strides = {};  ///< for each argument of the loop the rows of its Dat
  std::int64_t begin = 0;                  ///< the first item
};

/// @brief Evaluate the launches of a loop for a plan. The plan's arrays are read on the host.
/// @throws InternalError if the program reads missing values.
[[nodiscard]] LaunchList flatten(const exec::LaunchProgram& program, const LaunchInput& input,
                                 const GridRule& rule);

}  // namespace op2::runtime
