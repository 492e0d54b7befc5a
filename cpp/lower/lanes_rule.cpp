// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_rule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "ir/kernel_cost.hpp"
#include "ir/kernel_walk.hpp"
#include "ir/lane_functions.hpp"
#include "lower/lower.hpp"

namespace op2::lower {
namespace {

LaneChoice none(std::string why) {
  return {0, std::move(why)};
}

std::string why_not(Request request, const Options& options) {
  return why_not_on_lanes({request.loop, request.strategy, request.facts, request.maps, options});
}

bool reduces_global(const ir::Loop& loop) {
  return std::ranges::any_of(
      loop.args, [](const ir::Arg& arg) { return std::holds_alternative<ir::GlobalReduce>(arg); });
}

/// See lanes_columns: the other strategies take positions in another order.
bool goes_over_columns(const Request& request) {
  return request.loop.iteration.layers == ir::Layers::constant &&
         request.facts.lanes != Lanes::grid &&
         (request.strategy == Strategy::direct || request.strategy == Strategy::block);
}

/// Operations, as long as one of the quick ones takes.
std::int64_t weight_of(const Request& request, const LaneWork& work) {
  return work.n_operations + (request.options.tuning.operations_a_division - 1) * work.n_slow;
}

bool runs_along_rows(const Request& request, const LaneWork& work) {
  return work.n_in_rows > 0 &&
         static_cast<double>(work.n_in_rows) >=
             request.options.tuning.least_part_in_rows * static_cast<double>(work.n_operations);
}

LaneChoice by_rule(const Request& request, int vector_bytes) {
  const ir::Loop& loop = request.loop;
  if (loop.members.size() > 1) return none("several kernels are called for each element");
  if (!ir::kernel_of(loop).body) {
    return none(fmt::format("the kernel is opaque ({})", ir::kernel_of(loop).opaque_reason));
  }
  if (request.facts.lanes == Lanes::grid && !request.facts.in_turn) {
    return none("the backend spreads elements over lanes itself");
  }
  if (request.options.debug) return none("debug=True looks at one element after the other");
  if (vector_bytes == 0) return none("how wide the machine's vectors are is not known");
  const LaneWork work = lane_work(loop, request.options.tuning);
  const LaneRule rule = lane_rule(request);
  const std::int64_t weight = weight_of(request, work);
  if (weight < rule.least_operations || weight < rule.least_operations_a_scalar * work.n_scalars) {
    return none(fmt::format("{} operations for {} scalars moved: too little to gain",
                            work.n_operations, work.n_scalars));
  }
  if (runs_along_rows(request, work)) {
    return none(
        fmt::format("{} of {} operations are in loops along rows, which the compiler turns "
                    "into vectors",
                    work.n_in_rows, work.n_operations));
  }
  const bool is_wide = weight >= rule.operations_a_scalar_for_wide * work.n_scalars;
  const int n_bytes =
      is_wide ? vector_bytes : std::min(vector_bytes, request.options.tuning.narrow_bytes);
  Options options = request.options;
  options.lanes = n_bytes / std::max(work.widest, 4);
  if (options.lanes < 2) return none("the machine's vectors hold one value");
  const std::string why = why_not(request, options);
  if (!why.empty()) return none(why);
  return {options.lanes, fmt::format("{} operations for {} scalars moved, vectors of {} bytes",
                                     work.n_operations, work.n_scalars, n_bytes)};
}

}  // namespace

LaneRule lane_rule(const Request& request) {
  const Tuning& tuning = request.options.tuning;
  const bool is_grid = request.facts.lanes == Lanes::grid;
  // a device's compiler keeps the order in which a Global is summed, and makes no vectors there
  if (is_grid && reduces_global(request.loop) &&
      lane_work(request.loop, tuning).n_scalars >= tuning.least_reduced_scalars) {
    return {0, 0, tuning.wide_operations_a_scalar};
  }
  if (request.strategy == Strategy::owner && request.options.by_slot) {
    return {tuning.slot_operations, tuning.slot_operations_a_scalar,
            tuning.wide_operations_a_scalar};
  }
  return {tuning.lane_operations,
          goes_over_columns(request) ? tuning.column_operations_a_scalar
                                     : tuning.lane_operations_a_scalar,
          tuning.wide_operations_a_scalar};
}

LaneWork lane_work(const ir::Loop& loop, const Tuning& tuning) {
  LaneWork work;
  // complex vectors are two real ones
  const auto look = [&work](const ir::Type& type) {
    const auto dtype = ir::dtype_of(ir::part_base(type.base));
    if (dtype) work.widest = std::max(work.widest, static_cast<int>(size_of(*dtype)));
  };
  if (ir::kernel_of(loop).body) {
    const ir::Work counted = ir::work_of(*ir::kernel_of(loop).body, tuning.row_length);
    work.n_operations = counted.n_operations;
    work.n_slow = counted.n_slow;
    work.n_in_rows = counted.n_in_rows;
  }
  for (const ir::Arg& arg : loop.args) {
    const Access access = ir::access_of(arg);
    const bool is_carried = !std::holds_alternative<ir::GlobalRead>(arg) &&
                            !std::holds_alternative<ir::GlobalReduce>(arg);
    const bool is_both_ways = access == Access::rw || access == Access::inc;
    const int n_parts = is_complex(ir::dtype_of(arg)) ? 2 : 1;
    if (is_carried) {
      work.n_scalars += ir::extent_of(loop, arg) * n_parts * (is_both_ways ? 2 : 1);
    }
    look(ir::scalar(ir::base_of(ir::dtype_of(arg))));
  }
  if (!ir::kernel_of(loop).body) return work;
  for (const ir::FunctionDef& function : ir::kernel_of(loop).body->functions) {
    ir::for_each_expr_in(function.body, [&look](const ir::Expr& expr) {
      if (ir::is_floating(expr.type.base)) look(expr.type);
    });
  }
  return work;
}

LaneChoice choose_lanes(const Request& request, std::optional<int> forced, int vector_bytes) {
  if (!forced) return by_rule(request, vector_bytes);
  if (*forced <= 1) return none("asked for");
  Options options = request.options;
  options.lanes = *forced;
  const std::string why = why_not(request, options);
  if (why.empty()) return {*forced, "asked for"};
  throw UnsupportedError(fmt::format("par_loop '{}': lanes={} cannot be used: {}; use lanes=0",
                                     ir::name_of(request.loop), *forced, why));
}

}  // namespace op2::lower
