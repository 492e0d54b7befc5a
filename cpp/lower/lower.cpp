// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lower.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"
#include "lower/lanes_loop.hpp"
#include "lower/passes.hpp"

namespace op2::lower {
namespace {

template <class Pass>
void over_blocks(kir::Module& module, const Pass& pass) {
  for (kir::Function& function : module.functions) function.body = pass(std::move(function.body));
  module.launch = pass(std::move(module.launch));
}

void apply_strategy(Builder& builder) {
  switch (builder.request().strategy) {
    case Strategy::direct:
    case Strategy::atomic:
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
void note_slots(kir::Module& module, const Request& request) {
  if (request.facts.lanes == Lanes::grid) return;
  if (module.scratch.chunk == 0 && request.options.deterministic) {
    module.scratch.chunk = deterministic_chunk;
  }
}

Builder builder_for(const Request& request) {
  return {request, pack(request.loop, request.maps, request.facts, request.options)};
}

/// The loops over elements on lanes, if lanes were chosen.
void vectorise(Builder& builder) {
  const Request& request = builder.request();
  if (request.options.lanes < 2) return;
  LoopOnLanes on_lanes = loop_on_lanes(builder.module(), request);
  if (!on_lanes.module) {
    throw InternalError(fmt::format("lower: not on {} lanes: {}; choose_lanes() asks first",
                                    request.options.lanes, on_lanes.why));
  }
  builder.module() = std::move(*on_lanes.module);
}

}  // namespace

std::string why_not_on_lanes(const Request& request) {
  Builder builder = builder_for(request);
  apply_strategy(builder);
  return loop_on_lanes(builder.module(), request).why;
}

kir::Module lower(const Request& request, const Observer& observe) {
  // pack -> strategy (one of the strategy passes) -> vectorise -> reduce, legalise -> expand,
  // narrow
  Builder builder = builder_for(request);
  apply_strategy(builder);
  note_slots(builder.module(), request);
  vectorise(builder);
  verify(builder.module());
  observe(Stage::strategy, builder.module());

  if (builder.is_grid()) reduce(builder);
  kir::Module module = std::move(builder.module());
  over_blocks(module,
              [&request](kir::Block block) { return legalise(std::move(block), request.facts); });
  verify(module);
  observe(Stage::legalise, module);

  over_blocks(module, [](kir::Block block) { return expand(std::move(block)); });
  // Maps that are stored by column are longer than what the width was found for; only processors,
  // which have units for wide numbers, have them.
  const bool is_small = module.plan.kind != kir::PlanKind::columns;
  if (has_kernels(module) && request.options.index_bytes == 4 && is_small) {
    for (kir::Function& function : module.functions) {
      function.body = narrow(std::move(function.body));
    }
  }
  verify(module);
  if (!is_expanded(module)) throw InternalError("expand left a node that dialects do not print");
  observe(Stage::expand, module);
  return module;
}

}  // namespace op2::lower
