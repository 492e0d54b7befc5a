// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lower.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"
#include "ir/group.hpp"
#include "kir/verify.hpp"
#include "lower/entries.hpp"
#include "lower/lanes_loop.hpp"
#include "lower/passes.hpp"
#include "lower/private_bytes.hpp"

namespace op2::lower {
namespace {

/// Rewrite the body of every function, and the launch.
template <class Rewrite>
void over_blocks(kir::Module& module, const Rewrite& rewrite) {
  for (kir::Function& function : module.functions) {
    function.body = rewrite(std::move(function.body));
  }
  module.launch = rewrite(std::move(module.launch));
}

bool sums_targets(const Request& request) {
  return sums_targets(request.loop, request.facts, request.maps, request.options).ok;
}

void lay_out(Builder& builder) {
  switch (builder.request().strategy) {
    case Strategy::atomic:
      if (sums_targets(builder.request())) return sum_in_blocks(builder);
      return lay_out_elements(builder);
    case Strategy::direct:
      return lay_out_elements(builder);
    case Strategy::block:
      return colour_blocks(builder);
    case Strategy::colour:
      return colour_elements(builder);
    case Strategy::owner:
      return invert(builder);
    case Strategy::scratch:
      return sum_from_scratch(builder);
  }
  throw InternalError("unknown strategy");
}

/// Chunk size of reductions: what the runtime must know to size the scratch memory.
void note_slots(Builder& builder) {
  kir::Module& module = builder.module();
  if (!builder.is_grid() && module.scratch.chunk == 0 && builder.has_chunks()) {
    module.scratch.chunk = builder.request().options.tuning.deterministic_chunk;
  }
}

void apply_strategy(Builder& builder) {
  lay_out(builder);
  note_slots(builder);
}

Builder builder_for(const Request& request) {
  return {request, pack(request.loop, request.maps, request.facts, request.options)};
}

void vectorise(Builder& builder) {
  const Request& request = builder.request();
  LoopOnLanes on_lanes = loop_on_lanes(builder.module(), request);
  if (!on_lanes.module) {
    throw InternalError(fmt::format("lower: not on {} lanes: {}; choose_lanes() asks first",
                                    request.options.lanes, on_lanes.why));
  }
  builder.module() = std::move(*on_lanes.module);
}

void legalise_all(Builder& builder) {
  over_blocks(builder.module(), [&builder](kir::Block block) {
    return legalise(std::move(block), builder.request().facts);
  });
}

void expand_all(Builder& builder) {
  over_blocks(builder.module(), [&builder](kir::Block block) {
    return expand(std::move(block), builder.request().options.tuning);
  });
  if (!kir::is_expanded(builder.module())) {
    throw InternalError("expand left a node that dialects do not print");
  }
}

void narrow_all(Builder& builder) {
  for (kir::Function& function : builder.module().functions) {
    function.body = narrow(std::move(function.body));
  }
}

/// Maps that are stored by column are longer than what the width was found for; only processors,
/// which have units for wide numbers, have them.
bool is_small(const Builder& builder) {
  const kir::Module& module = builder.module();
  return kir::has_kernels(module) && builder.request().options.widths.index_bytes == 4 &&
         module.plan.kind != kir::PlanKind::columns;
}

struct Pass {
  Stage stage;
  bool (*applies)(const Builder&);
  void (*run)(Builder&);
};

bool always(const Builder& /*builder*/) {
  return true;
}

// What surrounds a loop before this table are `pack`, which makes the body of one element, and
// after it the printer.
constexpr Pass passes[] = {
    {Stage::strategy, always, apply_strategy},
    {Stage::lanes, [](const Builder& builder) { return builder.request().options.lanes > 1; },
     vectorise},
    {Stage::reduce, [](const Builder& builder) { return builder.is_grid(); }, reduce},
    {Stage::legalise, always, legalise_all},
    {Stage::expand, always, expand_all},
    {Stage::narrow, is_small, narrow_all},
};

void verify_after(Stage stage, const kir::Module& module) {
  try {
    kir::verify(module);
  } catch (const InternalError& error) {
    throw InternalError(fmt::format("after pass '{}': {}",
                                    stage_names[static_cast<std::size_t>(stage)], error.what()));
  }
}

/// Drivers of processors put the arrays of all lanes of a block on the stack of one thread.
bool on_a_stack(const Facts& facts) {
  return facts.lanes == Lanes::grid && facts.private_on_stack;
}

bool has_stack_for(const Request& request, const kir::Module& module) {
  if (on_a_stack(request.facts)) return fits_on_a_stack(module);
  return request.facts.lanes == Lanes::grid ||
         host_bytes(module) <= request.options.tuning.element_stack_bytes;
}

/// `owner` is the same loop from the other side.
ir::Group seen_from_targets(const Request& request) {
  return request.strategy == Strategy::owner ? ir::inverted(request.loop) : request.loop;
}

Request over(const ir::Group& group, const Request& request) {
  return {group, request.strategy, request.facts, request.maps, request.options};
}

}  // namespace

std::string why_not_on_lanes(const Request& given) {
  const ir::Group group = seen_from_targets(given);
  const Request request = over(group, given);
  if (group.members.size() > 1 && ir::is_inverted(group) && !request.options.by_slot) {
    return "incidences one after the other would lead to targets where other kernels have to wait";
  }
  Builder builder = builder_for(request);
  lay_out(builder);
  const LoopOnLanes on_lanes = loop_on_lanes(builder.module(), request);
  if (on_lanes.module && !has_stack_for(request, *on_lanes.module)) {
    return "the arrays of so many elements do not fit on a thread's stack";
  }
  return on_lanes.why;
}

kir::Module lower(const Request& given, const Observer& observe) {
  const ir::Group group = seen_from_targets(given);
  const Request request = over(group, given);
  Builder builder = builder_for(request);
  for (const Pass& pass : passes) {
    if (!pass.applies(builder)) continue;
    pass.run(builder);
    verify_after(pass.stage, builder.module());
    observe(pass.stage, builder.module());
  }
  kir::Module& made = builder.module();
  if (builder.is_grid()) {
    limit_lanes(made, on_a_stack(request.facts), request.options.tuning.stack_bytes);
  } else {
    check_stack(made, request.options.tuning.element_stack_bytes);
  }
  if (made.lanes == 0 && !kir::has_kernels(made))
    made.rows = {request.options.tuning.row_length, request.options.tuning.row_scalars};
  return std::move(builder.module());
}

}  // namespace op2::lower
