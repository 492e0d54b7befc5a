// SPDX-License-Identifier: BSD-3-Clause
#include "plan/widths.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "plan/at.hpp"
#include "plan/interleave.hpp"

namespace op2::plan {
namespace {

constexpr std::int64_t most_narrow = std::numeric_limits<std::int32_t>::max();

int bytes_to_count(std::int64_t n) {
  return n <= most_narrow ? 4 : 8;
}

const SizedMap& map_at(const LoopSizes& loop, int number) {
  return loop.maps.at(at(number));
}

/// The Maps that are reduced through, each once.
std::vector<const SizedMap*> reduced_maps(const LoopSizes& loop) {
  std::vector<const SizedMap*> found;
  for (const SizedArgument& argument : loop.arguments) {
    if (argument.target < 0 || !is_reduction(argument.access)) continue;
    const SizedMap* map = &map_at(loop, argument.target);
    if (std::ranges::find(found, map) == found.end()) found.push_back(map);
  }
  return found;
}

bool are_known(const std::vector<const SizedMap*>& maps) {
  return std::ranges::all_of(maps, [](const SizedMap* map) { return map->table != nullptr; });
}

std::int64_t degree_of(const SizedMap& map, const LoopSizes& loop, PlanCache& plans,
                       int n_threads) {
  return plans.largest_degree(map.table, loop.n_entities, map.slots, n_threads);
}

/// How many values all elements add through Maps.
std::int64_t n_added(const LoopSizes& loop) {
  std::int64_t n = 0;
  for (const SizedArgument& argument : loop.arguments) {
    if (argument.target >= 0 && argument.access == Access::inc) n += argument.n_scalars;
  }
  return n * loop.n_items;
}

/// Whether most of what a block of elements adds goes to targets that they share; true where values
/// of Maps are not known, as on most meshes.
bool shares_targets(const LoopSizes& loop, const Tuning& tuning, PlanCache& plans) {
  if (!loop.is_whole) return true;
  return std::ranges::all_of(reduced_maps(loop), [&](const SizedMap* map) {
    if (map->table == nullptr) return true;
    const int n = std::min(tuning.summed_elements, tuning.summed_entries / map->arity);
    return plans.distinct_targets(map->table, loop.n_entities, std::max(n, 1)) <=
           tuning.most_distinct;
  });
}

/// Whether lanes side by side would add to memory far apart, through any Map.
bool is_scattered(const LoopSizes& loop, const Facts& facts, const Tuning& tuning,
                  PlanCache& plans) {
  if (!loop.is_whole || tuning.most_scatter == 0) return loop.is_whole;
  ScatterLayout layout{.window = tuning.interleaved_window};
  if (facts.warp > 0) layout.lanes = facts.warp;
  layout.sector_targets = tuning.sector_bytes / static_cast<int>(sizeof(double));
  return std::ranges::any_of(reduced_maps(loop), [&](const SizedMap* map) {
    return map->table != nullptr &&
           plans.scatter(map->table, loop.n_entities, layout) > tuning.most_scatter;
  });
}

/// Elements add enough to one target each, and targets have similar numbers of elements. Lanes then
/// sum by target, without atomics, and are about equally busy; each element is computed once.
bool is_gathered(const LoopSizes& loop, const Tuning& tuning, PlanCache& plans, int n_threads) {
  const std::vector<const SizedMap*> maps = reduced_maps(loop);
  if (!loop.is_whole || loop.n_slots != 1 || maps.size() != 1 || !are_known(maps)) return false;
  std::int64_t n_scalars = 0;
  int least = std::min(tuning.gathered_scalars, 1);
  for (const SizedArgument& argument : loop.arguments) {
    if (argument.target >= 0 && is_reduction(argument.access)) n_scalars += argument.n_scalars;
    // rows of elements are not in the order of the targets
    if (argument.target < 0 && argument.n_rows > 0) least = tuning.gathered_scalars;
  }
  const SizedMap& map = *maps.front();
  const bool is_enough = least > 0 && n_scalars >= least;
  if (!is_enough || map.n_targets < std::max(tuning.least_gathered_targets, 1)) return false;
  const double mean =
      static_cast<double>(loop.n_entities) * map.arity / static_cast<double>(map.n_targets);
  const auto largest = static_cast<double>(degree_of(map, loop, plans, n_threads));
  return largest <= tuning.most_gathered * mean;
}

/// Bytes by what they are of: the most that any member says.
using Bytes = std::map<std::int64_t, std::int64_t>;

void enlarge(Bytes& bytes, std::int64_t id, std::int64_t n) {
  bytes[id] = std::max(bytes[id], n);
}

std::int64_t sum_of(const Bytes& bytes) {
  std::int64_t sum = 0;
  for (const auto& [id, n] : bytes) sum += n;
  return sum;
}

std::int64_t rows_moved(const LoopSizes& loop, const SizedArgument& argument) {
  if (argument.map < 0) return loop.n_items;
  return std::min(loop.n_items * map_at(loop, argument.map).arity, argument.n_rows);
}

}  // namespace

bool fits_narrow(const LoopSizes& loop, double most_padding) {
  if (loop.n_whole < 0) return false;
  const std::int64_t n = std::max(loop.n_items, loop.n_whole);
  const std::int64_t slots = std::max(loop.n_slots, 1);
  // of a Map that is composed with padded columns there are more rows than elements
  const auto padding = static_cast<std::int64_t>(std::ceil(most_padding)) * loop.n_slots;
  std::int64_t most = n * slots;
  for (const SizedMap& map : loop.maps) {
    if (map.n_targets < 0) return false;
    most = std::max(most, n * std::max<std::int64_t>(padding, 1) * map.arity);
  }
  for (const SizedArgument& argument : loop.arguments) {
    const std::int64_t scratch = argument.map < 0 ? 0 : n * argument.n_scalars;
    most =
        std::max({most, scratch, argument.matrix_scalars, argument.n_rows * argument.row_scalars});
  }
  return most <= most_narrow / 2;
}

bool is_evenly_covered(const LoopSizes& loop, double most_padding, PlanCache& plans,
                       int n_threads) {
  const std::vector<const SizedMap*> maps = reduced_maps(loop);
  if (maps.empty() || !loop.is_whole) return false;
  if (!are_known(maps)) return true;
  double n_entries = 0;
  double n_padded = 0;
  for (const SizedMap* map : maps) {
    n_entries += static_cast<double>(loop.n_entities) * map->arity;
    n_padded += static_cast<double>(degree_of(*map, loop, plans, n_threads)) *
                static_cast<double>(map->n_targets);
  }
  return n_padded <= most_padding * n_entries;
}

std::int64_t largest_degree(const LoopSizes& loop, PlanCache& plans, int n_threads) {
  const std::vector<const SizedMap*> maps = reduced_maps(loop);
  if (maps.size() != 1 || !are_known(maps)) return 0;
  return degree_of(*maps.front(), loop, plans, n_threads);
}

int entry_bytes(const LoopSizes& loop) {
  return bytes_to_count(loop.n_items * std::max(loop.n_slots, 1));
}

Widths widths_of(const LoopSizes& whole, const std::vector<LoopSizes>& members, const Facts& facts,
                 const Tuning& tuning, PlanCache& plans, int n_threads) {
  if (members.empty()) return widths_of(whole, {whole}, facts, tuning, plans, n_threads);
  const LoopSizes& main = members.front();
  std::vector<const LoopSizes*> all{&whole};
  for (const LoopSizes& member : members) all.push_back(&member);
  Widths widths;
  for (const LoopSizes* loop : all) {
    widths.element_bytes = std::max(widths.element_bytes, bytes_to_count(loop->n_items));
    for (const SizedMap& map : loop->maps) {
      widths.target_bytes = std::max(widths.target_bytes, bytes_to_count(map.n_targets));
    }
    for (const SizedArgument& argument : loop->arguments) {
      widths.position_bytes = std::max(widths.position_bytes, argument.position_bytes);
    }
  }
  widths.entry_bytes = entry_bytes(main);
  const DeviceClass device = class_of(facts);
  if (device == DeviceClass::host) {
    // a loop alone has no columns of neighbours there, and need not count
    const double most = 1.0 / tuning.column_fill_light;
    widths.padded = members.size() > 1 && is_evenly_covered(main, most, plans, n_threads);
    return widths;
  }
  widths.padded = is_evenly_covered(main, tuning.most_padding, plans, n_threads);
  if (widths.padded) widths.columns = static_cast<int>(largest_degree(main, plans, n_threads));
  const auto is_narrow = [&](const LoopSizes* loop) {
    return fits_narrow(*loop, tuning.most_padding);
  };
  widths.index_bytes = std::ranges::all_of(all, is_narrow) ? 4 : 8;
  for (std::size_t i = 0; i < whole.arguments.size(); ++i) {
    if (whole.arguments[i].is_soa) widths.soa.push_back(static_cast<int>(i));
  }
  if (device != DeviceClass::gpu) return widths;
  widths.summed = n_added(whole) >= tuning.least_summed_scalars &&
                  std::ranges::all_of(members, [&](const LoopSizes& loop) {
                    return shares_targets(loop, tuning, plans);
                  });
  widths.gathered = is_gathered(main, tuning, plans, n_threads);
  widths.scattered = widths.summed && std::ranges::any_of(members, [&](const LoopSizes& loop) {
                       return is_scattered(loop, facts, tuning, plans);
                     });
  return widths;
}

std::int64_t useful_bytes(const std::vector<LoopSizes>& members,
                          const std::set<std::int64_t>& zeroed,
                          const std::set<std::int64_t>& dropped) {
  Bytes maps;
  Bytes read;
  Bytes written;
  Bytes places;
  std::set<std::int64_t> made = zeroed;
  for (const LoopSizes& loop : members) {
    std::set<std::int64_t> made_here;
    for (const SizedArgument& argument : loop.arguments) {
      const std::int64_t data = argument.data;
      if (argument.map >= 0) {  // entries of columns are not read where there are places
        const SizedMap& map = map_at(loop, argument.map);
        enlarge(maps, map.id, loop.n_entities * map.arity * map.index_bytes);
      }
      if (argument.matrix_bytes > 0) {
        enlarge(written, data, 2 * argument.matrix_bytes);
        if (argument.columns < 0) continue;
        const std::int64_t n =
            map_at(loop, argument.map).arity * map_at(loop, argument.columns).arity;
        enlarge(places, data, loop.n_items * n * argument.position_bytes);
        continue;
      }
      const std::int64_t n_bytes = rows_moved(loop, argument) * argument.row_bytes;
      if (argument.n_rows == 0) continue;
      if (argument.access != Access::write && !made.contains(data)) enlarge(read, data, n_bytes);
      if (argument.access == Access::read) continue;
      made_here.insert(data);
      if (!dropped.contains(data)) enlarge(written, data, n_bytes);
    }
    made.merge(made_here);
  }
  return sum_of(maps) + sum_of(read) + sum_of(written) + sum_of(places);
}

}  // namespace op2::plan
