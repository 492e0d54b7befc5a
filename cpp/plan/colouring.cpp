// SPDX-License-Identifier: BSD-3-Clause
#include "plan/colouring.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "plan/bucket_sort.hpp"
#include "plan/colour_sets.hpp"
#include "plan/footprint.hpp"

namespace op2::plan {
namespace {

Footprint footprint_of(const ConflictSet& loop, int n_threads) {
  std::vector<MapPointer> maps;
  for (const Conflict& conflict : loop.conflicts) maps.push_back(conflict.map);
  const std::vector<Conflict> conflicts = canonical(loop.conflicts);
  check_elements(loop.elements, maps, n_threads);
  return {loop.elements, conflicts};
}

/// Fill the statistics that follow from the colours of the items.
void measure_colours(ColourStatistics& statistics, const std::vector<std::int64_t>& colour_offset) {
  statistics.n_colours = static_cast<std::int64_t>(colour_offset.size()) - 1;
  if (statistics.n_colours == 0) return;
  statistics.n_items_min = colour_offset[1];
  for (std::size_t colour = 0; colour + 1 < colour_offset.size(); ++colour) {
    const std::int64_t n_items = colour_offset[colour + 1] - colour_offset[colour];
    statistics.n_items_min = std::min(statistics.n_items_min, n_items);
    statistics.n_items_max = std::max(statistics.n_items_max, n_items);
  }
}

/// Fill the statistics that follow from the colours the targets have seen.
void measure_targets(ColourStatistics& statistics, const ColourSets& sets, std::int64_t n_targets,
                     int n_threads) {
  std::vector<ColourStatistics> partial(static_cast<std::size_t>(std::max(n_threads, 1)));
  parallel_for(n_threads, n_targets,
               [&sets, &partial](std::int64_t begin, std::int64_t end, int chunk) {
                 ColourStatistics found;
                 for (std::int64_t target = begin; target < end; ++target) {
                   const std::int64_t n_seen = sets.n_seen(target);
                   found.n_touched += n_seen > 0 ? 1 : 0;
                   found.n_shared += n_seen > 1 ? 1 : 0;
                 }
                 partial[static_cast<std::size_t>(chunk)] = found;
               });
  for (const ColourStatistics& found : partial) {
    statistics.n_touched += found.n_touched;
    statistics.n_shared += found.n_shared;
  }
}

std::int64_t n_colours_of(const std::vector<std::int32_t>& colour_of) {
  const auto last = std::max_element(colour_of.begin(), colour_of.end());
  return last == colour_of.end() ? 0 : *last + 1;
}

/// Move elements from colours larger than the mean to the smallest colour that is free for them.
/// @pre At most 64 colours.
void balance(std::vector<std::int32_t>& colour_of, std::int64_t n_colours, ColourSets& sets,
             const Footprint& footprint) {
  const auto n = static_cast<std::int64_t>(colour_of.size());
  const std::int64_t mean = (n + n_colours - 1) / n_colours;
  std::vector<std::int64_t> n_items(static_cast<std::size_t>(n_colours), 0);
  for (const std::int32_t colour : colour_of) ++n_items[static_cast<std::size_t>(colour)];
  // Latest first: first-fit gave the last elements their colour with most of them taken, and what
  // was coloured early is left where it is.
  for (std::int64_t k = n - 1; k >= 0; --k) {
    auto& colour = colour_of[static_cast<std::size_t>(k)];
    if (n_items[static_cast<std::size_t>(colour)] <= mean) continue;
    std::uint64_t busy = 0;
    footprint.visit(k, k + 1, [&sets, &busy](std::int64_t target) { busy |= sets.first(target); });
    std::int32_t best = colour;
    for (std::int32_t other = 0; other < n_colours; ++other) {
      const bool is_free = (busy >> other & 1) == 0;
      const std::int64_t load = n_items[static_cast<std::size_t>(other)];
      if (is_free && load < mean && load < n_items[static_cast<std::size_t>(best)]) best = other;
    }
    if (best == colour) continue;
    const std::uint64_t change = std::uint64_t{1} << best | std::uint64_t{1} << colour;
    // A target may come twice: setting and clearing, not flipping, is right then too.
    footprint.visit(k, k + 1, [&sets, change, best](std::int64_t target) {
      sets.first(target) = (sets.first(target) & ~change) | std::uint64_t{1} << best;
    });
    --n_items[static_cast<std::size_t>(colour)];
    ++n_items[static_cast<std::size_t>(best)];
    colour = best;
  }
}

std::vector<std::int32_t> first_fit(const Footprint& footprint, std::int64_t n, ColourSets& sets) {
  std::vector<std::int32_t> colour_of(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) {
    const auto visit = [&footprint, k](const auto& f) { footprint.visit(k, k + 1, f); };
    colour_of[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(sets.take_lowest(visit));
  }
  return colour_of;
}

/// Sort positions [0, n) by colour: place(where, position). Returns the colours' offsets.
template <class Colour, class Place>
std::vector<std::int64_t> sort_by_colour(const std::vector<Colour>& colour_of,
                                         std::int64_t n_colours, int n_threads,
                                         const Place& place) {
  const auto walk = [&colour_of](std::int64_t begin, std::int64_t end, const auto& f) {
    for (std::int64_t k = begin; k < end; ++k) f(colour_of[static_cast<std::size_t>(k)], k);
  };
  return bucket_sort(n_threads, static_cast<std::int64_t>(colour_of.size()), n_colours, walk,
                     place);
}

template <class Index>
std::vector<std::int64_t> sort_elements(const std::vector<std::int32_t>& colour_of,
                                        std::int64_t n_colours, const MapPointer& subset,
                                        std::vector<Index>& sorted, int n_threads) {
  const auto place = [&subset, &sorted](std::int64_t where, std::int64_t position) {
    sorted[static_cast<std::size_t>(where)] =
        static_cast<Index>(subset ? subset->at(position, 0) : position);
  };
  return sort_by_colour(colour_of, n_colours, n_threads, place);
}

}  // namespace

std::int64_t BlockPlan::bytes() const {
  return bytes_of(block_offset) + bytes_of(colour_offset) + bytes_of(block_of);
}

std::int64_t ElementPlan::bytes() const {
  return bytes_of(colour_offset) + bytes_of(elements);
}

BlockPlan colour_blocks(const ConflictSet& loop, std::int64_t block_size, int n_threads) {
  if (block_size < 1)
    throw UsageError(fmt::format("plan: block size {}, must be >= 1", block_size));
  const Footprint footprint = footprint_of(loop, n_threads);
  const std::int64_t n = loop.elements.n;
  const std::int64_t n_blocks = n / block_size + (n % block_size != 0 ? 1 : 0);
  BlockPlan plan;
  plan.block_size = block_size;
  plan.block_offset.reserve(static_cast<std::size_t>(n_blocks) + 1);
  for (std::int64_t b = 0; b < n_blocks; ++b) plan.block_offset.push_back(b * block_size);
  plan.block_offset.push_back(n);

  ColourSets sets(footprint.n_targets());
  std::vector<std::int64_t> colour_of;
  colour_of.reserve(static_cast<std::size_t>(n_blocks));
  std::int64_t n_colours = 0;
  for (std::size_t b = 0; b + 1 < plan.block_offset.size(); ++b) {
    const std::int64_t begin = plan.block_offset[b];
    const std::int64_t end = plan.block_offset[b + 1];
    colour_of.push_back(sets.take_lowest(
        [&footprint, begin, end](const auto& f) { footprint.visit(begin, end, f); }));
    n_colours = std::max(n_colours, colour_of.back() + 1);
  }
  plan.block_of.resize(static_cast<std::size_t>(n_blocks));
  plan.colour_offset = sort_by_colour(colour_of, n_colours, n_threads,
                                      [&plan](std::int64_t where, std::int64_t block) {
                                        plan.block_of[static_cast<std::size_t>(where)] = block;
                                      });
  measure_colours(plan.statistics, plan.colour_offset);
  measure_targets(plan.statistics, sets, footprint.n_targets(), n_threads);
  return plan;
}

ElementPlan colour_elements(const ConflictSet& loop, int n_threads) {
  const Footprint footprint = footprint_of(loop, n_threads);
  const std::int64_t n = loop.elements.n;
  ColourSets sets(footprint.n_targets());
  std::vector<std::int32_t> colour_of = first_fit(footprint, n, sets);
  const std::int64_t n_colours = n_colours_of(colour_of);
  ElementPlan plan;
  measure_targets(plan.statistics, sets, footprint.n_targets(), n_threads);
  if (n_colours > 1 && n_colours <= 64) balance(colour_of, n_colours, sets, footprint);

  plan.elements = make_index_array(n, loop.elements.subset ? loop.elements.subset->n_targets() : n);
  plan.colour_offset = std::visit(
      [&colour_of, &loop, n_colours, n_threads](auto& sorted) {
        return sort_elements(colour_of, n_colours, loop.elements.subset, sorted, n_threads);
      },
      plan.elements);
  measure_colours(plan.statistics, plan.colour_offset);
  return plan;
}

}  // namespace op2::plan
