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
  if (module.scratch.chunk == 0 && request.options.deterministic) {
    module.scratch.chunk = deterministic_chunk;
  }
}

kir::Module with_strategy(const Request& request) {
  Builder builder(request, pack(request.loop, request.maps, request.options));
  apply_strategy(builder);
  kir::Module module = std::move(builder.module());
  note_slots(module, request);
  return module;
}

}  // namespace

std::string why_not_on_lanes(const Request& request) {
  return loop_on_lanes(with_strategy(request), request).why;
}

kir::Module lower(const Request& request, const Observer& observe) {
  // pack -> strategy (one of the strategy passes) -> lanes -> legalise -> expand
  kir::Module module = with_strategy(request);
  if (request.options.lanes > 1) {
    LoopOnLanes on_lanes = loop_on_lanes(module, request);
    if (!on_lanes.module) {
      throw InternalError(fmt::format("lower: not on {} lanes: {}; choose_lanes() asks first",
                                      request.options.lanes, on_lanes.why));
    }
    module = std::move(*on_lanes.module);
  }
  verify(module);
  observe(Stage::strategy, module);

  over_blocks(module,
              [&request](kir::Block block) { return legalise(std::move(block), request.facts); });
  verify(module);
  observe(Stage::legalise, module);

  over_blocks(module, [](kir::Block block) { return expand(std::move(block)); });
  verify(module);
  if (!is_expanded(module)) throw InternalError("expand left a node that dialects do not print");
  observe(Stage::expand, module);
  return module;
}

}  // namespace op2::lower
