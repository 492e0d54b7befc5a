// SPDX-License-Identifier: BSD-3-Clause
#include "plan/conflict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "mesh/map_facts.hpp"

namespace op2::plan {
namespace {

using Space = std::vector<std::pair<MapPointer, int>>;  // (map, slot or all_slots)

bool covers(const Space& space, const MapPointer& map, int slot) {
  return std::any_of(space.begin(), space.end(), [&map, slot](const auto& entry) {
    return entry.first == map && (entry.second == all_slots || entry.second == slot);
  });
}

bool covers(const Space& space, const Space& part) {
  return std::all_of(part.begin(), part.end(), [&space](const auto& entry) {
    return covers(space, entry.first, entry.second);
  });
}

void check_conflict(const Conflict& conflict) {
  if (!conflict.map) throw UsageError("plan: a conflict has no map");
  if (conflict.slot == all_slots) return;
  if (conflict.slot < all_slots || conflict.slot >= conflict.map->arity()) {
    throw UsageError(fmt::format("plan: a conflict names slot {} of a map of arity {}",
                                 conflict.slot, conflict.map->arity()));
  }
}

void add(Space& space, const Conflict& conflict) {
  if (covers(space, conflict.map, conflict.slot)) return;
  if (!space.empty() && space.front().first->n_targets() != conflict.map->n_targets()) {
    throw UsageError(fmt::format("plan: maps of one conflict space end on sets of {} and {}",
                                 space.front().first->n_targets(), conflict.map->n_targets()));
  }
  if (conflict.slot == all_slots) {
    std::erase_if(space, [&conflict](const auto& entry) { return entry.first == conflict.map; });
  }
  space.emplace_back(conflict.map, conflict.slot);
}

std::vector<Space> collect_spaces(const std::vector<Conflict>& conflicts) {
  std::vector<int> names;
  std::vector<Space> spaces;
  for (const Conflict& conflict : conflicts) {
    check_conflict(conflict);
    const auto found = std::find(names.begin(), names.end(), conflict.space);
    const auto index = static_cast<std::size_t>(found - names.begin());
    if (found == names.end()) {
      names.push_back(conflict.space);
      spaces.emplace_back();
    }
    add(spaces[index], conflict);
  }
  return spaces;
}

/// Whether another space makes spaces[i] redundant; of two equal ones the first stays.
bool is_redundant(const std::vector<Space>& spaces, std::size_t i) {
  for (std::size_t j = 0; j < spaces.size(); ++j) {
    if (j == i || !covers(spaces[j], spaces[i])) continue;
    if (!covers(spaces[i], spaces[j]) || j < i) return true;
  }
  return false;
}

}  // namespace

void check_elements(const Elements& elements, const std::vector<MapPointer>& maps, int n_threads) {
  const std::int64_t n = elements.n;
  if (n < 0) throw UsageError(fmt::format("plan: {} elements", n));
  if (elements.n_boundary < 0 || elements.n_boundary > n) {
    throw UsageError(
        fmt::format("plan: {} of {} elements are at a boundary", elements.n_boundary, n));
  }
  const MapPointer& subset = elements.subset;
  if (subset) {
    if (subset->arity() != 1 || subset->n_rows() < n) {
      throw UsageError(
          fmt::format("plan: a subset is a map of arity 1 with {} rows; got arity {} and {} rows",
                      n, subset->arity(), subset->n_rows()));
    }
    mesh::check_range(*subset, "plan: subset", false, n_threads);
  }
  const std::int64_t n_rows = subset ? subset->n_targets() : n;
  for (const MapPointer& map : maps) {
    if (map->n_rows() < n_rows) {
      throw UsageError(fmt::format("plan: a loop over {} elements uses a map of {} rows", n_rows,
                                   map->n_rows()));
    }
  }
}

std::vector<Conflict> canonical(const std::vector<Conflict>& conflicts) {
  const std::vector<Space> spaces = collect_spaces(conflicts);
  std::vector<Conflict> kept;
  int next = 0;
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    if (is_redundant(spaces, i)) continue;
    for (const auto& [map, slot] : spaces[i]) kept.push_back(Conflict{map, slot, next});
    ++next;
  }
  return kept;
}

}  // namespace op2::plan
