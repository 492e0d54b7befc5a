// SPDX-License-Identifier: BSD-3-Clause
#include "lower/candidates.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "lower/incidence.hpp"
#include "lower/lanes_rule.hpp"
#include "lower/strategy.hpp"

namespace op2::lower {
namespace {

/// What an element moves, apart from what the strategy adds.
struct Traffic {
  std::int64_t loaded = 0;  ///< of values
  std::int64_t stored = 0;
  std::int64_t reduced = 0;  ///< of results that several elements add to; among both
  std::int64_t of_maps = 0;
};

bool is_global(const ir::Arg& arg) {
  return std::holds_alternative<ir::GlobalRead>(arg) ||
         std::holds_alternative<ir::GlobalReduce>(arg);
}

bool has_shared_targets(const ir::Arg& arg) {
  const bool is_of_map =
      std::holds_alternative<ir::IndirectDat>(arg) || std::holds_alternative<ir::MatArg>(arg);
  return is_of_map && is_reduction(ir::access_of(arg));
}

Traffic traffic_of(const ir::Loop& loop, const std::vector<MapFacts>& maps) {
  Traffic traffic;
  std::set<int> read;
  for (const ir::Arg& arg : loop.args) {
    if (is_global(arg)) continue;  // in registers, or a cache has them
    const auto bytes =
        static_cast<std::int64_t>(size_of(ir::dtype_of(arg))) * ir::extent_of(loop, arg);
    const Access access = ir::access_of(arg);
    if (access != Access::write) traffic.loaded += bytes;
    if (writes(access)) traffic.stored += bytes;
    if (has_shared_targets(arg)) traffic.reduced += bytes;
    if (const int map = ir::target_map_of(arg); map >= 0) read.insert(map);
  }
  for (const int map : read) {
    const auto at = static_cast<std::size_t>(map);
    traffic.of_maps += std::int64_t{loop.maps[at].arity} * maps[at].index_bytes;
  }
  return traffic;
}

}  // namespace

Cost cost_of(Strategy strategy, const ir::Loop& loop, const std::vector<MapFacts>& maps,
             const Options& options) {
  const Traffic traffic = traffic_of(loop, maps);
  const std::int64_t slots = n_slots(loop);
  Cost cost{traffic.loaded + traffic.stored + traffic.of_maps,
            lane_work(loop, options.tuning).n_operations};
  switch (strategy) {
    case Strategy::direct:
    case Strategy::atomic:
    case Strategy::block:
    case Strategy::team:
      return cost;
    case Strategy::colour:
      cost.bytes += options.widths.element_bytes;
      return cost;
    case Strategy::scratch:  // results are stored, and loaded by who sums them
      cost.bytes += traffic.reduced + slots * options.widths.entry_bytes;
      return cost;
    case Strategy::owner: {  // each slot's owner computes the element; sums are moved once
      const std::int64_t visits = std::max<std::int64_t>(slots, 1);
      const std::int64_t gathered = traffic.loaded - traffic.reduced;
      const std::int64_t once = traffic.stored + traffic.reduced;
      cost.bytes = visits * (gathered + traffic.of_maps + options.widths.entry_bytes) + once;
      cost.operations *= visits;
      return cost;
    }
  }
  throw InternalError("unknown strategy");
}

std::vector<Candidate> candidates(const ir::Loop& loop, const Facts& facts,
                                  const std::vector<MapFacts>& maps, const Options& options) {
  std::vector<Candidate> out;
  for (Choice& choice : preferences(loop, facts, maps, options)) {
    const Cost cost = cost_of(choice.strategy, loop, maps, options);
    out.push_back({choice.strategy, true, std::move(choice.why), cost});
  }
  std::vector<Candidate> others;
  for (std::size_t i = 0; i < std::size(strategy_names); ++i) {
    const auto strategy = static_cast<Strategy>(i);
    if (std::ranges::find(out, strategy, &Candidate::strategy) != out.end()) continue;
    Verdict verdict = applicable(strategy, loop, facts, maps, options);
    others.push_back(
        {strategy, verdict.ok, std::move(verdict.why), cost_of(strategy, loop, maps, options)});
  }
  std::ranges::stable_sort(others, {}, [](const Candidate& one) {
    return std::pair(!one.is_possible, one.is_possible ? one.cost.bytes : 0);
  });
  std::ranges::move(others, std::back_inserter(out));
  return out;
}

}  // namespace op2::lower
