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

/// Threads that count degrees each need a counter a target.
constexpr int max_counting_threads = 8;

template <class Index>
std::vector<std::int32_t> count_degrees(const Index* values, std::int64_t begin, std::int64_t end,
                                        std::int64_t n_targets) {
  std::vector<std::int32_t> count(static_cast<std::size_t>(n_targets), 0);
  for (std::int64_t i = begin; i < end; ++i) {
    if (values[i] >= 0) ++count[static_cast<std::size_t>(values[i])];
  }
  return count;
}

/// Least and greatest degree. Counters of each thread's own, added up: shared atomic ones were
/// slower than one thread alone.
Extremes degrees(const MapTable& map, std::int64_t n_entries, int n_threads) {
  const int n_counting = std::clamp(n_threads, 1, max_counting_threads);
  std::vector<std::vector<std::int32_t>> counts(static_cast<std::size_t>(n_counting));
  parallel_for(
      n_counting, n_entries, [&map, &counts](std::int64_t begin, std::int64_t end, int chunk) {
        counts[static_cast<std::size_t>(chunk)] =
            map.index_bytes() == 4 ? count_degrees(static_cast<const std::int32_t*>(map.values()),
                                                   begin, end, map.n_targets())
                                   : count_degrees(static_cast<const std::int64_t*>(map.values()),
                                                   begin, end, map.n_targets());
      });
  std::erase_if(counts, [](const std::vector<std::int32_t>& count) { return count.empty(); });
  std::vector<Extremes> partial(static_cast<std::size_t>(std::max(n_threads, 1)));
  parallel_for(n_threads, map.n_targets(),
               [&counts, &partial](std::int64_t begin, std::int64_t end, int chunk) {
                 Extremes found;
                 for (auto target = static_cast<std::size_t>(begin);
                      target < static_cast<std::size_t>(end); ++target) {
                   std::int64_t degree = 0;
                   for (const std::vector<std::int32_t>& count : counts) degree += count[target];
                   found.least = std::min(found.least, degree);
                   found.greatest = std::max(found.greatest, degree);
                 }
                 partial[static_cast<std::size_t>(chunk)] = found;
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
  const bool has_targets = map.n_targets() > 0;
  const Extremes degree = has_targets ? degrees(map, n_entries, n_threads) : Extremes{0, 0};
  facts.degree_min = degree.least;
  facts.degree_max = degree.greatest;
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
