// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/device_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "exec/portable.hpp"

namespace op2::runtime {
namespace {

/// Blocks that lanes of gathering loops share out: more would wait for others to end, and each
/// adds up results of its own.
std::int64_t resident_blocks(exec::Program& program, const exec::LaunchProgram& launch, int n_lanes,
                             int n_units) {
  std::int64_t least = 0;
  for (const exec::LaunchedKernel& kernel : launch.kernels) {
    const int lanes = kernel.max_lanes > 0 ? std::min(n_lanes, kernel.max_lanes) : n_lanes;
    const std::int64_t n = program.resident_blocks(kernel.name, lanes);
    if (n > 0 && (least == 0 || n < least)) least = n;
  }
  return least * n_units;
}

}  // namespace

DeviceLoop::DeviceLoop(const exec::Executable& executable, std::shared_ptr<DeviceMirror> mirror,
                       std::span<const std::shared_ptr<const mesh::MapTable>> maps,
                       const DevicePlan& plan)
    : mirror_(std::move(mirror)), program_(executable.device->program) {
  const exec::LaunchProgram& program = executable.device->launch;
  const DeviceInfo& info = mirror_->device()->info();
  GridRule rule =
      grid_rule(info, {plan.n_lanes, maps.empty(), exec::asks_for_blocks(program), plan.item_bytes},
                plan.tuning);
  if (rule.is_by_residence) {
    const std::int64_t n = resident_blocks(*program_, program, rule.n_lanes, info.n_units);
    if (n > 0) rule.max_blocks = n;
  }
  LaunchInput input{{}, plan.n_items, plan.strides, plan.begin};
  for (const abi::Parameter& argument : executable.arguments) {
    const bool is_of_plan = argument.role == abi::Role::plan;
    input.arrays.push_back(is_of_plan ? plan.arrays.at(argument) : plan::HostArray{});
  }
  list_ = flatten(program, input, rule);
  launches_.reserve(list_.launches.size());
  for (const FlatLaunch& flat : list_.launches) {
    DeviceKernel& kernel = program_->kernel(flat.function);
    Grid grid = flat.grid;
    if (flat.needs_all_lanes && grid.n_lanes > kernel.max_lanes()) {
      throw UnsupportedError(fmt::format(
          "par_loop '{}': strategy 'team' needs blocks of {} lanes, and the device takes {} for "
          "this kernel; pass another strategy",
          executable.name, grid.n_lanes, kernel.max_lanes()));
    }
    while (grid.n_lanes > 1 && grid.n_lanes > kernel.max_lanes()) grid.n_lanes /= 2;
    launches_.push_back({&kernel, grid, std::vector<LaunchArgument>(flat.arguments.size())});
  }
  place_fixed(executable, maps, plan);
  place_scratch(plan.tuning.kept_scratch_bytes);
}

void DeviceLoop::place_fixed(const exec::Executable& executable,
                             std::span<const std::shared_ptr<const mesh::MapTable>> maps,
                             const DevicePlan& plan) {
  const mesh::TransferCause cause{executable.name};
  std::vector<std::shared_ptr<void>> known(executable.arguments.size());
  std::vector<std::size_t> address_of(executable.arguments.size(), 0);
  std::size_t n_addresses = 0;
  // the lists of items follow the Maps
  const auto n_lists = std::count_if(
      executable.arguments.begin(), executable.arguments.end(),
      [](const abi::Parameter& argument) { return argument.role == abi::Role::items; });
  const std::size_t first_list = maps.size() - static_cast<std::size_t>(n_lists);
  for (std::size_t i = 0; i < executable.arguments.size(); ++i) {
    const abi::Role role = executable.arguments[i].role;
    if (role == abi::Role::data || role == abi::Role::constant) address_of[i] = n_addresses++;
  }
  const auto memory_of = [&](std::size_t i) -> void* {
    if (known[i]) return known[i].get();
    const abi::Parameter& argument = executable.arguments[i];
    const auto index = static_cast<std::size_t>(argument.index);
    const bool is_table = argument.role == abi::Role::map || argument.role == abi::Role::items;
    const std::size_t first = argument.role == abi::Role::items ? first_list : 0;
    if (is_table && (argument.index < 0 || first + index >= maps.size())) {
      throw UsageError(fmt::format(
          "its code's argument '{}' is {} number {}, of which there are {}", argument.name,
          exec::name_of(argument.role), argument.index, maps.size() - first));
    }
    if (argument.role == abi::Role::map) {
      known[i] = mirror_->map(maps[index], cause);
    } else if (argument.role == abi::Role::items) {
      known[i] = mirror_->map(maps[first_list + index], cause);
    } else if (argument.role == abi::Role::matrix) {
      const plan::HostArray& found = plan.matrices.at(index);
      known[i] = mirror_->array(found.owner, found.data, found.n_bytes, cause);
    } else {
      const plan::HostArray& array = plan.arrays.at(argument);
      known[i] = mirror_->array(array.owner, array.data, array.n_bytes, cause);
    }
    return known[i].get();
  };
  for (std::size_t l = 0; l < launches_.size(); ++l) {
    const auto& arguments = list_.launches[l].arguments;
    for (std::size_t p = 0; p < arguments.size(); ++p) {
      const auto* slot = std::get_if<LaunchSlot>(&arguments[p]);
      if (slot == nullptr) {
        launches_[l].arguments[p] = std::get<std::int64_t>(arguments[p]);
        continue;
      }
      const auto index = static_cast<std::size_t>(slot->index);
      if (slot->is_scratch) {
        scratch_.push_back({l, p, index});
        continue;
      }
      const abi::Role role = executable.arguments[index].role;
      if (role == abi::Role::data || role == abi::Role::constant) {
        buffers_.push_back({l, p, address_of[index]});
      } else {
        launches_[l].arguments[p] = memory_of(index);
      }
    }
  }
  for (std::shared_ptr<void>& memory : known) {
    if (memory) fixed_.push_back(std::move(memory));
  }
}

void DeviceLoop::place_scratch(std::int64_t kept_scratch_bytes) {
  std::vector<Patch> later;
  std::vector<std::shared_ptr<void>> kept(list_.scratch.size());
  for (const Patch& patch : scratch_) {
    const auto [n_bytes, is_zero] = list_.scratch[patch.from];
    if (n_bytes > kept_scratch_bytes && !is_zero) {
      later.push_back(patch);
      continue;
    }
    if (!kept[patch.from]) {
      kept[patch.from] = mirror_->device()->allocate(n_bytes, "scratch");
      if (is_zero) mirror_->device()->zero(kept[patch.from].get(), 0, n_bytes);
    }
    launches_[patch.launch].arguments[patch.position] = kept[patch.from].get();
  }
  for (std::shared_ptr<void>& memory : kept) {
    if (memory) fixed_.push_back(std::move(memory));
  }
  scratch_ = std::move(later);
}

std::int64_t DeviceLoop::changing_bytes() const {
  std::int64_t most = 0;
  for (const Patch& patch : scratch_) {
    most = std::max(most, static_cast<std::int64_t>(list_.scratch[patch.from].n_bytes));
  }
  return most;
}

std::vector<std::shared_ptr<void>> DeviceLoop::scratch(const std::string& loop) const {
  std::vector<std::shared_ptr<void>> large(scratch_.empty() ? 0 : list_.scratch.size());
  for (const Patch& patch : scratch_) {
    if (large[patch.from]) continue;
    large[patch.from] = mirror_->device()->allocate(list_.scratch[patch.from].n_bytes,
                                                    "scratch of par_loop '" + loop + "'");
  }
  return large;
}

void DeviceLoop::run(std::span<void* const> addresses, const std::string& loop, DeviceSpan* span) {
  Device& device = *mirror_->device();
  for (const Patch& patch : buffers_) {
    launches_[patch.launch].arguments[patch.position] = addresses[patch.from];
  }
  const std::vector<std::shared_ptr<void>> large = scratch(loop);
  for (const Patch& patch : scratch_) {
    launches_[patch.launch].arguments[patch.position] = large[patch.from].get();
  }
  for (const Prepared& launch : launches_) {
    device.launch(*launch.kernel, launch.grid, launch.arguments, loop, span);
  }
}

}  // namespace op2::runtime
