// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/map_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "base/parallel.hpp"

namespace op2::mesh {
namespace {

/// Call @p f with the first entry, in the map's own width.
template <class F>
auto with_values(const MapTable& map, const F& f) {
  return map.index_bytes() == 4 ? f(static_cast<const std::int32_t*>(map.values()))
                                : f(static_cast<const std::int64_t*>(map.values()));
}

/// Smallest and largest entry.
struct Extremes {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
};

Extremes join(const std::vector<Extremes>& parts) {
  Extremes all;
  for (const Extremes& part : parts) {
    all.least = std::min(all.least, part.least);
    all.greatest = std::max(all.greatest, part.greatest);
  }
  return all;
}

template <class Index>
Extremes extremes(const Index* values, std::int64_t begin, std::int64_t end) {
  // Reduced in the map's own width, which the compiler turns into vector instructions.
  Index least = std::numeric_limits<Index>::max();
  Index greatest = std::numeric_limits<Index>::min();
  for (std::int64_t i = begin; i < end; ++i) {
    least = std::min(least, values[i]);
    greatest = std::max(greatest, values[i]);
  }
  return begin == end ? Extremes{} : Extremes{least, greatest};
}

/// Of rows [0, @p n).
Extremes extremes(const MapTable& map, std::int64_t n, int n_threads) {
  std::vector<Extremes> partial(static_cast<std::size_t>(std::max(n_threads, 1)));
  const std::int64_t first = map.begin(0);
  parallel_for(n_threads, map.begin(n) - first,
               [&map, &partial, first](std::int64_t begin, std::int64_t end, int chunk) {
                 partial[static_cast<std::size_t>(chunk)] = with_values(
                     map,
                     [&](const auto* entries) { return extremes(entries + first, begin, end); });
               });
  return join(partial);
}

/// Say where the first entry outside [lowest, n_targets) is. There must be one.
[[noreturn]] void fail_range(const MapTable& map, std::string_view name, bool negative_allowed) {
  for (std::int64_t row = 0; row < map.n_rows(); ++row) {
    map.visit(row, [&](int slot, std::int64_t value) {
      if (value < map.n_targets() && (value >= 0 || negative_allowed)) return;
      throw UsageError(fmt::format(
          "{}: row {}, slot {}: value {} is outside the target set; expected {}0 <= value < {}",
          name, row, slot, value, negative_allowed ? "a negative value (no target) or " : "",
          map.n_targets()));
    });
  }
  throw InternalError(fmt::format("{}: the map changed while it was checked", name));
}

/// The largest number of the @p n_places entries, entry i at @p place_of(i), with the same target.
template <class Index, class PlaceOf>
std::int64_t largest_degree(const Index* values, std::int64_t n_places, std::int64_t n_targets,
                            const PlaceOf& place_of) {
  std::vector<std::int32_t> degrees(static_cast<std::size_t>(n_targets), 0);
  std::int32_t largest = 0;
  for (std::int64_t i = 0; i < n_places; ++i) {
    const std::int64_t target = values[place_of(i)];
    if (target >= 0) largest = std::max(largest, ++degrees[static_cast<std::size_t>(target)]);
  }
  return largest;
}

/// Whether no target is named twice, and the pass over the entries ends with the first that is.
template <class Index>
bool is_injective(const Index* values, std::int64_t n_entries, std::int64_t n_targets) {
  std::vector<bool> is_named(static_cast<std::size_t>(n_targets), false);
  for (std::int64_t i = 0; i < n_entries; ++i) {
    if (values[i] < 0) continue;
    const auto target = static_cast<std::size_t>(values[i]);
    if (is_named[target]) return false;
    is_named[target] = true;
  }
  return true;
}

/// Smallest and largest entry of the first @p n rows, which must lead to the target set or nowhere.
Extremes checked_extremes(const MapTable& map, std::int64_t n, int n_threads) {
  if (n < 0 || n > map.n_rows()) {
    throw UsageError(fmt::format("map facts of {} rows: the map has {}", n, map.n_rows()));
  }
  const Extremes values = extremes(map, n, n_threads);
  if (values.greatest >= map.n_targets()) fail_range(map, "map facts", true);
  return values;
}

}  // namespace

MapFacts map_facts(const MapTable& map, std::int64_t n, int n_threads) {
  const Extremes values = checked_extremes(map, n, n_threads);
  const std::int64_t n_entries = map.begin(n) - map.begin(0);
  MapFacts facts;
  facts.index_bytes = map.index_bytes();
  facts.has_negative = n_entries > 0 && values.least < 0;
  const bool has_too_many = !facts.has_negative && n_entries > map.n_targets();
  facts.injective = !has_too_many && with_values(map, [&](const auto* entries) {
    return is_injective(entries + map.begin(0), n_entries, map.n_targets());
  });
  return facts;
}

std::int64_t largest_degree(const MapTable& map, std::int64_t n, const std::vector<int>& slots,
                            int n_threads) {
  (void)checked_extremes(map, n, n_threads);
  return with_values(map, [&](const auto* entries) {
    const auto n_slots = static_cast<std::int64_t>(slots.size());
    if (n_slots == 0) {
      return largest_degree(entries, map.begin(n) - map.begin(0), map.n_targets(),
                            [&map](std::int64_t i) { return map.begin(0) + i; });
    }
    return largest_degree(entries, n * n_slots, map.n_targets(), [&](std::int64_t i) {
      return i / n_slots * map.arity() + slots[static_cast<std::size_t>(i % n_slots)];
    });
  });
}

void check_range(const MapTable& map, std::string_view name, bool negative_allowed, int n_threads) {
  if (map.begin(map.n_rows()) == map.begin(0)) return;
  const Extremes values = extremes(map, map.n_rows(), n_threads);
  if (values.greatest >= map.n_targets() || (values.least < 0 && !negative_allowed)) {
    fail_range(map, name, negative_allowed);
  }
}

}  // namespace op2::mesh
