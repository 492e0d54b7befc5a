// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_legal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/kernel_facts.hpp"
#include "lower/constants.hpp"
#include "lower/lanes_kernel.hpp"
#include "lower/lanes_varying.hpp"

namespace op2::lower {
namespace {

std::vector<bool> varying_parameters(const ir::Loop& loop) {
  std::vector<bool> varies;
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    if (i > 0 && ir::parameter_of(loop, i) == ir::parameter_of(loop, i - 1)) continue;
    varies.push_back(!std::holds_alternative<ir::GlobalRead>(loop.args[i]));
  }
  if (loop.iteration.pass_layer) varies.push_back(true);
  varies.resize(varies.size() + loop.constants.size(), false);
  return varies;
}

/// Several elements a lane pay where lanes are the threads of a CPU.
void check_grid(const Request& request) {
  if (!request.facts.in_turn) refuse("the backend spreads elements over lanes itself");
  if (!request.options.soa.empty()) refuse("its Dats lie as structures of arrays");
}

/// All lanes load before the first one stores: what an element reads may not be another's result.
/// Elements of one colour do not meet, and what is only written is stored in the elements' order.
void check_overwrites(const Request& request, const Races& races) {
  if (request.strategy == Strategy::colour) return;
  for (const std::size_t arg : races.overwrites) {
    if (ir::access_of(request.loop.args[arg]) == Access::rw) {
      refuse(fmt::format("arg {} is RW through a Map whose targets elements share", arg));
    }
  }
}

}  // namespace

void check_side_by_side(const Request& request) {
  if (request.facts.lanes == Lanes::grid) check_grid(request);
  const ir::Loop& loop = request.loop;
  const Races races = find_races(loop, request.maps);
  if (races.overlaps) refuse("written memory overlaps other arguments");
  if (races.reads_written) refuse("memory that is incremented is also read through a Map");
  check_overwrites(request, races);
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const Access access = ir::access_of(loop.args[i]);
    for (std::size_t j = 0; j < i; ++j) {
      const bool same = ir::alias_of(loop.args[i]).memory == ir::alias_of(loop.args[j]).memory;
      const Access other = ir::access_of(loop.args[j]);
      if (!same || (!writes(access) && !writes(other))) continue;
      const bool both_add = std::holds_alternative<ir::IndirectDat>(loop.args[i]) &&
                            std::holds_alternative<ir::IndirectDat>(loop.args[j]) &&
                            access == Access::inc && other == Access::inc;
      if (!both_add) refuse(fmt::format("args {} and {} share written memory", j, i));
    }
    const bool is_extremum = access == Access::min || access == Access::max;
    if (is_extremum && std::holds_alternative<ir::IndirectDat>(loop.args[i]) &&
        !ir::kernel_facts(*ir::kernel_of(loop).body)
             .parameters[static_cast<std::size_t>(ir::parameter_of(loop, i))]
             .commutes(access)) {
      refuse(fmt::format("arg {} is MIN or MAX, and the kernel uses its value", i));
    }
  }
}

std::shared_ptr<const ir::Kernel> kernel_for_lanes(const Request& request) {
  if (request.loop.members.size() > 1) refuse("several kernels are called for each element");
  if (!ir::kernel_of(request.loop).body) {
    refuse(fmt::format("the kernel is opaque ({})", ir::kernel_of(request.loop).opaque_reason));
  }
  auto kernel = std::make_shared<ir::Kernel>(with_constants(request.loop));
  KernelOnLanes made = kernel_on_lanes(*kernel->body, varying_parameters(request.loop),
                                       request.options.lanes, request.options.tuning);
  if (!made.body) refuse(made.why);
  kernel->body = std::move(made.body);
  kernel->key += fmt::format(":lanes{}", request.options.lanes);
  return kernel;
}

}  // namespace op2::lower
