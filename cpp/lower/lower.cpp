// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "ir/group.hpp"
#include "kir/verify.hpp"
#include "lower/entries.hpp"
#include "lower/invert_by_slot.hpp"
#include "lower/lanes_loop.hpp"
#include "lower/passes.hpp"
#include "lower/private_bytes.hpp"
#include "lower/ragged.hpp"

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

/// Chunk size of reductions: what the runtime must know to size the scratch memory.
void note_slots(Builder& builder) {
  kir::Module& module = builder.module();
  if (!builder.is_grid() && module.scratch.chunk == 0 && builder.has_chunks()) {
    module.scratch.chunk = builder.request().options.tuning.deterministic_chunk;
  }
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
         !std::holds_alternative<abi::ColumnsPlan>(module.plan);
}

bool always(const Builder& /*builder*/) {
  return true;
}

template <Strategy strategy>
bool is(const Builder& builder) {
  return builder.request().strategy == strategy;
}

Races races_of(const Builder& builder) {
  return find_races(builder.request().loop, builder.request().maps);
}

bool is_summed_in_blocks(const Builder& builder) {
  const auto& [loop, strategy, facts, maps, options] = builder.request();
  return (strategy == Strategy::atomic && sums_targets(loop, facts, maps, options).ok) ||
         (strategy == Strategy::block && sums_entries(loop, facts, maps, options).ok);
}

/// Without races blocks are all alike, and reductions are the same for any of them in fixed chunks
/// of elements only.
bool is_by_element(const Builder& builder) {
  const Request& request = builder.request();
  return is<Strategy::direct>(builder) || is<Strategy::atomic>(builder) ||
         (is<Strategy::block>(builder) && builder.is_grid() &&
          request.options.semantics.deterministic && races_of(builder).none());
}

/// What a pass is for.
enum class For : std::uint8_t {
  all,
  hosts,    ///< functions that are called
  grids,    ///< ... that are launched on devices
  vectors,  ///< loops on lanes
};

bool serves(For what, const Builder& builder) {
  if (what == For::vectors) return builder.request().options.lanes > 1;
  return what == For::all || (what == For::grids) == builder.is_grid();
}

struct Pass {
  Stage stage;
  For serves;
  bool (*applies)(const Builder&);
  void (*run)(Builder&);
};

// What surrounds a loop before this table are `pack`, which makes the body of one element, and
// after it the printer. Of the layouts the first that applies is run.
constexpr Pass passes[] = {
    {Stage::in_order, For::grids,
     [](const Builder& builder) {
       return is<Strategy::block>(builder) && races_of(builder).overlaps;
     },
     run_in_order},
    {Stage::summed_blocks, For::grids, is_summed_in_blocks, sum_in_blocks},
    {Stage::elements, For::all, is_by_element, lay_out_elements},
    {Stage::teams, For::grids, is<Strategy::team>, lay_out_team},
    {Stage::staged_blocks, For::grids,
     [](const Builder& builder) {
       return is<Strategy::block>(builder) && builder.request().facts.fast_shared &&
              !is_ragged(builder.request().loop);
     },
     stage_blocks},
    {Stage::launched_blocks, For::grids, is<Strategy::block>, launch_blocks},
    {Stage::blocks, For::hosts, is<Strategy::block>, colour_blocks},
    {Stage::colours, For::all, is<Strategy::colour>, colour_elements},
    {Stage::slots, For::vectors,
     [](const Builder& builder) {
       return is<Strategy::owner>(builder) && builder.request().options.by_slot;
     },
     invert_by_slot},
    {Stage::incidences, For::all, is<Strategy::owner>, invert},
    {Stage::scratch, For::all, is<Strategy::scratch>, sum_from_scratch},
    {Stage::lanes, For::vectors, always, vectorise},
    {Stage::reduce, For::grids, always, reduce},
    {Stage::legalise, For::all, always, legalise_all},
    {Stage::expand, For::all, always, expand_all},
    {Stage::narrow, For::grids, is_small, narrow_all},
};

bool applies(const Pass& pass, const Builder& builder) {
  return serves(pass.serves, builder) && pass.applies(builder);
}

/// The one layout of a loop.
const Pass& layout_of(const Builder& builder) {
  return *std::ranges::find_if(passes, [&](const Pass& pass) { return applies(pass, builder); });
}

void lay_out(Builder& builder) {
  layout_of(builder).run(builder);
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

void verify_after(Stage stage, const kir::Module& module) {
  try {
    kir::verify(module, stage < Stage::expand);
  } catch (const InternalError& error) {
    throw InternalError(fmt::format("after pass '{}': {}",
                                    stage_names[static_cast<std::size_t>(stage)], error.what()));
  }
}

kir::Module lower(const Request& given, const Observer& observe) {
  const ir::Group group = seen_from_targets(given);
  const Request request = over(group, given);
  Builder builder = builder_for(request);
  const Pass& layout = layout_of(builder);
  for (const Pass& pass : passes) {
    const bool is_layout = pass.stage <= Stage::layout;
    if (is_layout ? &pass != &layout : !applies(pass, builder)) continue;
    pass.run(builder);
    if (is_layout) note_slots(builder);
    verify_after(pass.stage, builder.module());
    observe(pass.stage, builder.module());
  }
  kir::Module& made = builder.module();
  if (builder.is_grid()) {
    limit_lanes(made, on_a_stack(request.facts), request.options.tuning.stack_bytes);
  } else {
    check_stack(made, request.options.tuning.element_stack_bytes);
  }
  made.elementary = request.options.semantics.elementary;
  if (made.lanes == 0 && !kir::has_kernels(made))
    made.rows = {request.options.tuning.row_length, request.options.tuning.row_scalars};
  return std::move(builder.module());
}

}  // namespace op2::lower
