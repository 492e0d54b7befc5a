// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/map_facts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "base/parallel.hpp"

namespace op2::mesh {
namespace {

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

Extremes extremes(const MapTable& map, std::int64_t n_entries, int n_threads) {
  std::vector<Extremes> partial(static_cast<std::size_t>(std::max(n_threads, 1)));
  parallel_for(n_threads, n_entries,
               [&map, &partial](std::int64_t begin, std::int64_t end, int chunk) {
                 partial[static_cast<std::size_t>(chunk)] =
                     map.index_bytes() == 4
                         ? extremes(static_cast<const std::int32_t*>(map.values()), begin, end)
                         : extremes(static_cast<const std::int64_t*>(map.values()), begin, end);
               });
  return join(partial);
}

/// Say where the first entry outside [lowest, n_targets) is. There must be one.
[[noreturn]] void fail_range(const MapTable& map, std::string_view name, bool negative_allowed) {
  for (std::int64_t row = 0; row < map.n_rows(); ++row) {
    for (int slot = 0; slot < map.arity(); ++slot) {
      const std::int64_t value = map.at(row, slot);
      if (value < map.n_targets() && (value >= 0 || negative_allowed)) continue;
      throw UsageError(fmt::format(
          "{}: row {}, slot {}: value {} is outside the target set; expected {}0 <= value < {}",
          name, row, slot, value, negative_allowed ? "a negative value (no target) or " : "",
          map.n_targets()));
    }
  }
  throw InternalError(fmt::format("{}: the map changed while it was checked", name));
}

/// Least and greatest degree among targets [begin, end), from one sweep over all entries.
template <class Index>
Extremes degrees(const Index* values, std::int64_t n_entries, std::int64_t begin,
                 std::int64_t end) {
  std::vector<std::int64_t> count(static_cast<std::size_t>(end - begin), 0);
  const auto width = static_cast<std::uint64_t>(end - begin);
  for (std::int64_t i = 0; i < n_entries; ++i) {
    const auto local = static_cast<std::uint64_t>(std::int64_t{values[i]} - begin);
    if (local < width) ++count[local];
  }
  return extremes(count.data(), 0, end - begin);
}

/// Each thread counts for its own targets: every thread reads the whole map, but nothing is shared.
/// Atomic counters were slower than one thread alone.
Extremes degrees(const MapTable& map, std::int64_t n_entries, int n_threads) {
  std::vector<Extremes> partial(static_cast<std::size_t>(std::max(n_threads, 1)));
  parallel_for(
      n_threads, map.n_targets(),
      [&map, &partial, n_entries](std::int64_t begin, std::int64_t end, int chunk) {
        partial[static_cast<std::size_t>(chunk)] =
            map.index_bytes() == 4
                ? degrees(static_cast<const std::int32_t*>(map.values()), n_entries, begin, end)
                : degrees(static_cast<const std::int64_t*>(map.values()), n_entries, begin, end);
      });
  return join(partial);
}

}  // namespace

MapFacts map_facts(const MapTable& map, std::int64_t n, int n_threads) {
  if (n < 0 || n > map.n_rows()) {
    throw UsageError(fmt::format("map facts of {} rows: the map has {}", n, map.n_rows()));
  }
  const std::int64_t n_entries = n * map.arity();
  const Extremes values = extremes(map, n_entries, n_threads);
  if (values.greatest >= map.n_targets()) fail_range(map, "map facts", true);
  MapFacts facts;
  facts.index_bytes = map.index_bytes();
  facts.has_negative = n_entries > 0 && values.least < 0;
  if (map.n_targets() > 0) {
    const Extremes degree = degrees(map, n_entries, n_threads);
    facts.degree_min = degree.least;
    facts.degree_max = degree.greatest;
  }
  facts.injective = facts.degree_max <= 1;
  return facts;
}

void check_range(const MapTable& map, std::string_view name, bool negative_allowed, int n_threads) {
  const std::int64_t n_entries = map.n_rows() * map.arity();
  if (n_entries == 0) return;
  const Extremes values = extremes(map, n_entries, n_threads);
  if (values.greatest >= map.n_targets() || (values.least < 0 && !negative_allowed)) {
    fail_range(map, name, negative_allowed);
  }
}

}  // namespace op2::mesh
