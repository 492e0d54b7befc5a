// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_rule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "ir/group.hpp"
#include "kernel/cost.hpp"
#include "kernel/lane_functions.hpp"
#include "kernel/walk.hpp"
#include "lower/lower.hpp"

namespace op2::lower {
namespace {

constexpr int operations_a_half = 16;  // of a conversion

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

/// Values that one element of a loop reads, if the loop does nothing else but add floating-point
/// numbers to Globals; a value behind a Map counts twice, because of its index. One element's sum
/// waits for the sum before, and compilers may not reorder sums; lanes have sums of their own.
std::optional<int> n_only_summed(const ir::Loop& loop) {
  int n_read = 0;
  bool has_sum = false;
  for (const ir::Arg& arg : loop.args) {
    const bool is_sum = std::holds_alternative<ir::GlobalReduce>(arg) &&
                        ir::access_of(arg) == Access::inc && is_floating(ir::dtype_of(arg));
    if (!is_sum && writes(ir::access_of(arg))) return std::nullopt;
    has_sum |= is_sum;
    if (is_sum || std::holds_alternative<ir::GlobalRead>(arg)) continue;
    n_read += ir::extent_of(loop, arg) * (std::holds_alternative<ir::DirectDat>(arg) ? 1 : 2);
  }
  return has_sum ? std::optional(n_read) : std::nullopt;
}

/// See lanes_columns: the other strategies take positions in another order.
bool goes_over_columns(const Request& request) {
  return request.loop.iteration.layers == ir::Layers::constant &&
         request.facts.lanes != Lanes::grid &&
         (request.strategy == Strategy::direct || request.strategy == Strategy::block);
}

/// Operations, as long as one of the quick ones takes.
std::int64_t weight_of(const Request& request, const LaneWork& work) {
  const Tuning& tuning = request.options.tuning;
  const bool is_by_lane = request.options.semantics.elementary == kernel::Elementary::scalars;
  const std::int64_t n_vector_calls = is_by_lane ? 0 : work.n_calls;
  return work.n_operations + (tuning.operations_a_division - 1) * work.n_slow +
         (tuning.operations_a_function - 1) * n_vector_calls;
}

std::string operations(const LaneWork& work) {
  if (work.n_calls == 0) return fmt::format("{} operations", work.n_operations);
  return fmt::format("{} operations ({} functions)", work.n_operations, work.n_calls);
}

/// How often the values behind an argument are carried: in, out, both ways, or not at all where a
/// member before has them in registers, or a later one stores them.
int n_ways(const ir::Loop& loop, std::size_t arg) {
  const ir::Arg& node = loop.args[arg];
  if (std::holds_alternative<ir::GlobalRead>(node) ||
      std::holds_alternative<ir::GlobalReduce>(node)) {
    return 0;
  }
  const Access access = ir::access_of(node);
  const auto* dat = std::get_if<ir::DirectDat>(&node);
  bool is_known = false;
  bool is_stored_later = dat != nullptr && writes(access) && !ir::is_stored(loop, arg);
  for (std::size_t other = 0; other < loop.args.size() && dat != nullptr; ++other) {
    const bool is_same = std::holds_alternative<ir::DirectDat>(loop.args[other]) &&
                         ir::member_of(loop, other) != ir::member_of(loop, arg) &&
                         ir::alias_of(loop.args[other]).data == dat->alias.data;
    is_known |= is_same && other < arg;
    is_stored_later |= is_same && other > arg && writes(ir::access_of(loop.args[other]));
  }
  const bool is_read = access == Access::read || access == Access::rw || access == Access::inc;
  const bool is_loaded = is_read && !is_known;
  const bool is_written = writes(access) && !is_stored_later;
  return (is_loaded ? 1 : 0) + (is_written ? 1 : 0);
}

/// Compilers do not turn calls of functions into vectors without leave to change results.
bool runs_along_rows(const Request& request, const LaneWork& work) {
  return work.n_in_rows > 0 && work.n_calls == 0 &&
         static_cast<double>(work.n_in_rows) >=
             request.options.tuning.least_part_in_rows * static_cast<double>(work.n_operations);
}

/// Why lanes gain nothing for this work; empty: they do.
std::string why_not_worth_it(const Request& request, const LaneWork& work) {
  const LaneRule rule = lane_rule(request);
  const std::int64_t weight = weight_of(request, work);
  if (weight < rule.least_operations || weight < rule.least_operations_a_scalar * work.n_scalars) {
    return fmt::format("{} for {} scalars moved: too little to gain", operations(work),
                       work.n_scalars);
  }
  if (runs_along_rows(request, work)) {
    return fmt::format(
        "{} of {} operations are in loops along rows, which the compiler turns into vectors",
        work.n_in_rows, work.n_operations);
  }
  return "";
}

/// Is one of several kernels worth it by itself?
bool has_worthy_member(const Request& request) {
  const ir::Group& group = request.loop;
  for (std::size_t member = 0; member < group.members.size() && group.members.size() > 1;
       ++member) {
    const ir::Loop loop = ir::alone(group, member);
    const Request one{loop, request.strategy, request.facts, request.maps, request.options};
    if (why_not_worth_it(one, lane_work(loop, request.options.tuning)).empty()) return true;
  }
  return false;
}

LaneChoice by_rule(const Request& request, int vector_bytes) {
  const ir::Loop& loop = request.loop;
  for (const ir::Member& member : loop.members) {
    if (member.kernel->body) continue;
    return none(fmt::format("the kernel is opaque ({})", member.kernel->opaque_reason));
  }
  if (request.facts.lanes == Lanes::grid && !request.facts.vectors_in_lane) {
    return none("the backend spreads elements over lanes itself");
  }
  if (request.options.semantics.debug)
    return none("debug=True looks at one element after the other");
  if (vector_bytes == 0) return none("how wide the machine's vectors are is not known");
  const LaneWork work = lane_work(loop, request.options.tuning);
  const LaneRule rule = lane_rule(request);
  const std::int64_t weight = weight_of(request, work);
  const std::string why_not_worth = why_not_worth_it(request, work);
  if (!why_not_worth.empty() && !has_worthy_member(request)) return none(why_not_worth);
  const bool is_wide =
      request.options.by_pairs || weight >= rule.operations_a_scalar_for_wide * work.n_scalars;
  const int n_bytes =
      is_wide ? vector_bytes : std::min(vector_bytes, request.options.tuning.narrow_bytes);
  Options options = request.options;
  options.lanes = n_bytes / std::max(work.widest, 4);
  if (options.lanes < 2) return none("the machine's vectors hold one value");
  const std::string why = why_not(request, options);
  if (!why.empty()) return none(why);
  return {options.lanes, fmt::format("{} for {} scalars moved, vectors of {} bytes",
                                     operations(work), work.n_scalars, n_bytes)};
}

}  // namespace

LaneRule lane_rule(const Request& request) {
  const Tuning& tuning = request.options.tuning;
  const bool is_device = class_of(request.facts) != DeviceClass::host;
  // a device's compiler keeps the order in which a Global is summed, and makes no vectors there
  if (is_device && reduces_global(request.loop) &&
      lane_work(request.loop, tuning).n_scalars >= tuning.least_reduced_scalars) {
    return {0, 0, tuning.wide_operations_a_scalar};
  }
  const std::optional<int> n_summed = n_only_summed(request.loop);
  if (!is_device && !request.options.semantics.deterministic && n_summed &&
      *n_summed <= tuning.most_summed_scalars) {
    return {0, 0, *n_summed == 1 ? 0 : tuning.wide_operations_a_scalar};  // one: nothing to sort
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
  const auto look = [&work](const kernel::Type& type) {
    const auto dtype = kernel::dtype_of(kernel::part_base(type.base));
    if (dtype) work.widest = std::max(work.widest, static_cast<int>(size_of(*dtype)));
  };
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const ir::Arg& arg = loop.args[i];
    const int n_parts = is_complex(ir::dtype_of(arg)) ? 2 : 1;
    work.n_scalars += ir::extent_of(loop, arg) * n_parts * n_ways(loop, i);
    look(kernel::scalar(kernel::base_of(ir::dtype_of(arg))));
    // machines have instructions for vectors of them, which compilers do not take by themselves
    if (ir::stored_of(arg) != DType::float16) continue;
    work.n_operations += operations_a_half * ir::extent_of(loop, arg) * n_ways(loop, i);
  }
  for (const ir::Member& member : loop.members) {
    if (!member.kernel->body) continue;
    const kernel::Work counted =
        kernel::work_of(*member.kernel->body, {tuning.row_length, tuning.row_scalars});
    work.n_operations += counted.n_operations;
    work.n_slow += counted.n_slow;
    work.n_calls += counted.n_calls;
    work.n_in_rows += counted.n_in_rows;
    for (const kernel::FunctionDef& function : member.kernel->body->functions) {
      kernel::for_each_expr_in(function.body, [&look](const kernel::Expr& expr) {
        if (kernel::is_floating(expr.type.base)) look(expr.type);
      });
    }
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
