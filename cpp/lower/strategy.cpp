// SPDX-License-Identifier: BSD-3-Clause
#include "lower/strategy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "ir/kernel_facts.hpp"

namespace op2::lower {
namespace {

using ir::Arg;
using ir::DirectDat;
using ir::Loop;

Verdict no(std::string why) {
  return {false, std::move(why)};
}

/// Everything the loop does to one class of memory.
struct Touches {
  std::vector<std::size_t> args;
  std::set<int> data;
  std::set<int> maps;
  bool direct = false;
  bool written = false;
  bool written_directly = false;
  bool read_indirectly = false;
};

std::map<int, Touches> touches_by_memory(const Loop& loop) {
  std::map<int, Touches> touches;
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const Arg& arg = loop.args[i];
    Touches& touch = touches[ir::alias_of(arg).memory];
    touch.args.push_back(i);
    touch.data.insert(ir::alias_of(arg).data);
    const bool written = writes(ir::access_of(arg));
    touch.written |= written;
    if (const int map = ir::target_map_of(arg); map >= 0) {
      touch.maps.insert(map);
      touch.read_indirectly |= !written;
    } else {
      touch.direct = true;
      touch.written_directly |= written;
    }
  }
  return touches;
}

/// True if concurrent elements cannot meet in this memory because one injective Map leads there.
bool is_private(const Touches& touch, const std::vector<MapFacts>& maps) {
  return touch.maps.size() == 1 && maps[static_cast<std::size_t>(*touch.maps.begin())].injective;
}

std::string describe(const Loop& loop, std::size_t arg) {
  const auto& parameters = loop.kernel->parameters;
  return arg < parameters.size() && !parameters[arg].name.empty()
             ? fmt::format("arg {} ('{}')", arg, parameters[arg].name)
             : fmt::format("arg {}", arg);
}

constexpr const char* value_is_used =
    " is MIN/MAX, and the kernel is not known to use its value for that alone";

/// True if calls may come in any order: an INC argument starts at zero, but a MIN or MAX one shows
/// the kernel what was there.
bool commutes(const Loop& loop, std::size_t arg, Access access) {
  if (access == Access::inc) return true;
  const ir::Kernel& kernel = *loop.kernel;
  return kernel.body && ir::kernel_facts(*kernel.body).parameters[arg].commutes(access);
}

/// Shared demands of the strategies that sum element results target by target.
Verdict sums_by_target(const Loop& loop, const Races& races) {
  if (races.overlaps) return no("written memory overlaps other arguments");
  if (races.reads_written) return no("memory that is incremented is also read through a Map");
  if (!races.overwrites.empty()) {
    return no(describe(loop, races.overwrites.front()) +
              " is written, not reduced, through a Map: only INC, MIN and MAX can be summed");
  }
  int toset = -1;
  std::map<int, Access> reductions;
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const Arg& arg = loop.args[i];
    const int map = ir::target_map_of(arg);
    const Access access = ir::access_of(arg);
    if (map < 0 || !writes(access)) continue;
    if (!is_reduction(access)) return no(describe(loop, i) + " is written through a Map");
    if (reductions.try_emplace(ir::alias_of(arg).memory, access).first->second != access) {
      return no(describe(loop, i) + " is reduced in two ways, which do not commute");
    }
    const int target = loop.maps[static_cast<std::size_t>(map)].toset;
    if (toset >= 0 && toset != target) {
      return no(describe(loop, i) + " is on another Set than the other reduced Dats");
    }
    toset = target;
    if (!commutes(loop, i, access)) return no(describe(loop, i) + value_is_used);
  }
  if (toset < 0) return no("nothing is reduced through a Map");
  return {};
}

Verdict owner_is_legal(const Loop& loop, const Races& races) {
  if (Verdict verdict = sums_by_target(loop, races); !verdict.ok) return verdict;
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const auto* dat = std::get_if<DirectDat>(&loop.args[i]);
    if (dat != nullptr && writes(dat->access)) {
      return no(describe(loop, i) +
                " is written directly; the kernel runs several times an element");
    }
  }
  if (!loop.kernel->body) return no("the kernel is opaque, so it is not known to be pure");
  const ir::KernelFacts facts = ir::kernel_facts(*loop.kernel->body);
  if (!facts.is_pure()) {
    return no(fmt::format("the kernel calls '{}', which may have effects of its own",
                          facts.unknown_functions.front()));
  }
  return {};
}

Verdict atomic_is_legal(const Loop& loop, const Races& races, const Facts& facts) {
  if (!facts.atomics) return no("the backend has no atomics");
  if (races.overlaps) return no("written memory overlaps other arguments");
  if (races.reads_written) return no("memory that is incremented is also read through a Map");
  if (!races.overwrites.empty()) {
    return no(describe(loop, races.overwrites.front()) +
              " is written, not reduced, through a Map: atomics resolve INC, MIN and MAX");
  }
  for (const std::size_t arg : races.reductions) {
    if (!commutes(loop, arg, ir::access_of(loop.args[arg]))) {
      return no(describe(loop, arg) + value_is_used);
    }
  }
  return {};
}

Verdict always_on_one_lane(const Races& races, const Facts& facts) {
  if (facts.lanes == Lanes::one || races.none()) return {};
  if (races.overlaps) return no("written memory overlaps other arguments");
  return no("elements that run at the same time may write the same target");
}

bool is_deterministic(Strategy strategy) {
  return strategy != Strategy::atomic && strategy != Strategy::block;
}

}  // namespace

Races find_races(const Loop& loop, const std::vector<MapFacts>& maps) {
  Races races;
  std::set<int> conflicts;
  for (const auto& [memory, touch] : touches_by_memory(loop)) {
    if (!touch.written) continue;
    const bool through_maps = !touch.maps.empty();
    const bool mixed = through_maps && touch.direct;
    if (touch.data.size() > 1 || mixed) races.overlaps = true;
    if (!through_maps || is_private(touch, maps)) continue;
    conflicts.insert(touch.maps.begin(), touch.maps.end());
    races.reads_written |= touch.read_indirectly;
    for (const std::size_t arg : touch.args) {
      const Access access = ir::access_of(loop.args[arg]);
      if (!writes(access)) continue;
      (is_reduction(access) ? races.reductions : races.overwrites).push_back(arg);
    }
  }
  races.conflicts.assign(conflicts.begin(), conflicts.end());
  return races;
}

Verdict applicable(Strategy strategy, const Loop& loop, const Facts& facts,
                   const std::vector<MapFacts>& maps, const Options& options) {
  const Races races = find_races(loop, maps);
  const bool in_order = facts.lanes == Lanes::one || races.none() ||
                        (strategy == Strategy::block && races.overlaps);  // one block, one lane
  if (options.deterministic && !is_deterministic(strategy) && !in_order) {
    return no("its order of additions depends on the run, and deterministic=True was asked for");
  }
  switch (strategy) {
    case Strategy::direct:
      return always_on_one_lane(races, facts);
    case Strategy::owner:
      return owner_is_legal(loop, races);
    case Strategy::scratch:
      return sums_by_target(loop, races);
    case Strategy::atomic:
      return atomic_is_legal(loop, races, facts);
    case Strategy::block:
      return {};
    case Strategy::colour:
      return races.overlaps ? no("written memory overlaps other arguments") : Verdict{};
  }
  throw InternalError("unknown strategy");
}

Choice choose(const Loop& loop, const Facts& facts, const std::vector<MapFacts>& maps,
              const Options& options) {
  const auto may = [&](Strategy strategy) {
    return applicable(strategy, loop, facts, maps, options).ok;
  };
  if (may(Strategy::direct)) return {Strategy::direct, "nothing can race"};
  if (options.deterministic) {
    if (may(Strategy::colour)) return {Strategy::colour, "deterministic, no two of a colour meet"};
    // Overlapping memory: a single block runs in element order, which is deterministic.
    return {Strategy::block, "memory overlaps in ways Maps cannot tell: one block, in order"};
  }
  return {Strategy::block, "races resolved by colouring blocks of consecutive elements"};
}

Choice force(Strategy strategy, const Loop& loop, const Facts& facts,
             const std::vector<MapFacts>& maps, const Options& options) {
  const Verdict verdict = applicable(strategy, loop, facts, maps, options);
  if (verdict.ok) return {strategy, "asked for"};
  std::vector<std::string_view> possible;
  for (const std::string_view name : strategy_names) {
    if (applicable(strategy_from_name(name), loop, facts, maps, options).ok) {
      possible.push_back(name);
    }
  }
  throw UnsupportedError(
      fmt::format("par_loop '{}': strategy '{}' cannot be used: {}; possible: {}",
                  loop.kernel->name, name_of(strategy), verdict.why, fmt::join(possible, ", ")));
}

}  // namespace op2::lower
