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

// Below these, moving data into lanes and back costs more than they save: docs/performance.md.
constexpr std::int64_t least_operations = 40;
constexpr std::int64_t least_operations_a_scalar = 2;
// Lanes over columns find what Maps say once a column.
constexpr std::int64_t least_operations_a_scalar_in_columns = 1;
// Owners that go by slot read what they gather in order, and need not ask which share is theirs.
constexpr std::int64_t least_operations_by_slot = 25;
constexpr std::int64_t least_operations_a_scalar_by_slot = 1;
// Below this, rows and their transposition decide: half of the widest vectors is as fast, and
// compiled in two thirds of the time.
constexpr std::int64_t operations_a_scalar_for_wide = 8;
constexpr int half_bytes = 32;
// A device's compiler vectorises lighter loops by itself: lanes slow adt_calc down, which has 65.
constexpr std::int64_t least_operations_on_grid = 75;
// But it does not where a Global is reduced, whose order it has to keep.
constexpr std::int64_t least_scalars_of_reduction = 4;
// On a CPU a division or a root takes as long as several other operations, and lanes share it.
constexpr std::int64_t operations_a_division = 4;
// A kernel of which at least this part runs along rows is faster if the compiler vectorises those:
// nothing has to be transposed, and sums stay in registers.
constexpr double least_part_in_rows = 0.75;

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
  const bool is_host = request.facts.lanes != Lanes::grid;
  return work.n_operations + (is_host ? (operations_a_division - 1) * work.n_slow : 0);
}

bool runs_along_rows(const Request& request, const LaneWork& work) {
  return request.facts.lanes != Lanes::grid && work.n_in_rows > 0 &&
         static_cast<double>(work.n_in_rows) >=
             least_part_in_rows * static_cast<double>(work.n_operations);
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
  const LaneWork work = lane_work(loop);
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
  const int n_bytes = is_wide ? vector_bytes : std::min(vector_bytes, half_bytes);
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
  const bool is_grid = request.facts.lanes == Lanes::grid;
  if (is_grid && reduces_global(request.loop) &&
      lane_work(request.loop).n_scalars >= least_scalars_of_reduction) {
    return {0, 0, operations_a_scalar_for_wide};
  }
  if (request.strategy == Strategy::owner && request.options.by_slot) {
    return {least_operations_by_slot, least_operations_a_scalar_by_slot,
            operations_a_scalar_for_wide};
  }
  return {
      is_grid ? least_operations_on_grid : least_operations,
      goes_over_columns(request) ? least_operations_a_scalar_in_columns : least_operations_a_scalar,
      operations_a_scalar_for_wide};
}

LaneWork lane_work(const ir::Loop& loop) {
  LaneWork work;
  // complex vectors are two real ones
  const auto look = [&work](const ir::Type& type) {
    const auto dtype = ir::dtype_of(ir::part_base(type.base));
    if (dtype) work.widest = std::max(work.widest, static_cast<int>(size_of(*dtype)));
  };
  if (ir::kernel_of(loop).body) {
    const ir::Work counted = ir::work_of(*ir::kernel_of(loop).body, row_length);
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
