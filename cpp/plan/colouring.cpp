// SPDX-License-Identifier: BSD-3-Clause
#include "plan/colouring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
/// @param[in] sets Of each part: their colours are not the same.
void measure_targets(ColourStatistics& statistics, const std::vector<ColourSets>& sets,
                     std::int64_t n_targets, int n_threads) {
  std::vector<ColourStatistics> partial(static_cast<std::size_t>(std::max(n_threads, 1)));
  parallel_for(n_threads, n_targets,
               [&sets, &partial](std::int64_t begin, std::int64_t end, int chunk) {
                 ColourStatistics found;
                 for (std::int64_t target = begin; target < end; ++target) {
                   std::int64_t n_seen = 0;
                   for (const ColourSets& seen : sets) n_seen += seen.n_seen(target);
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

/// Items that get colours of their own: [begin, end).
struct Part {
  std::int64_t begin;
  std::int64_t end;

  [[nodiscard]] std::int64_t size() const { return end - begin; }
};

/// What a colouring gives colours to: element k, or all elements of a block.
class Items {
 public:
  Items(const Footprint& footprint, const ConflictSet& loop, std::int64_t block_size)
      : footprint_(footprint),
        loop_(loop),
        n_elements_(loop.elements.n),
        n_core_elements_(loop.elements.n_core()),
        block_size_(block_size),
        n_core_(n_blocks(loop.elements.n_core())) {
    if (loop.columns && block_size > 1) cut_between_columns();
  }

  [[nodiscard]] std::int64_t size() const {
    if (!first_.empty()) return static_cast<std::int64_t>(first_.size()) - 1;
    return n_core_ + n_blocks(n_elements_ - n_core_elements_);
  }
  /// Those before the boundary come first.
  [[nodiscard]] std::int64_t n_core() const { return n_core_; }
  [[nodiscard]] std::array<Part, 2> parts() const { return {{{0, n_core_}, {n_core_, size()}}}; }

  [[nodiscard]] std::int64_t begin_of(std::int64_t item) const {
    if (!first_.empty()) return first_[static_cast<std::size_t>(item)];
    if (item <= n_core_) return std::min(item * block_size_, n_core_elements_);
    return std::min(n_core_elements_ + (item - n_core_) * block_size_, n_elements_);
  }

  /// Whether items of a column are several, which are to keep their order.
  [[nodiscard]] bool have_order() const { return loop_.columns && block_size_ == 1; }
  /// Whether @p item must come after the one before it.
  [[nodiscard]] bool follows(std::int64_t item) const {
    return have_order() && loop_.continues_column(item);
  }

  template <class F>
  void visit(std::int64_t item, const F& f) const {
    footprint_.visit(begin_of(item), begin_of(item + 1), f);
  }

 private:
  [[nodiscard]] std::int64_t n_blocks(std::int64_t n) const {
    return n / block_size_ + (n % block_size_ != 0 ? 1 : 0);
  }

  /// A block that would end inside of a column ends with it.
  void cut_between_columns() {
    std::int64_t begin = 0;
    for (const std::int64_t end : {n_core_elements_, n_elements_}) {
      while (begin < end) {
        first_.push_back(begin);
        begin = std::min(begin + block_size_, end);
        while (begin < end && loop_.continues_column(begin)) ++begin;
      }
      if (end == n_core_elements_) n_core_ = static_cast<std::int64_t>(first_.size());
    }
    first_.push_back(n_elements_);
  }

  const Footprint& footprint_;
  const ConflictSet& loop_;
  std::int64_t n_elements_;
  std::int64_t n_core_elements_;
  std::int64_t block_size_;
  std::int64_t n_core_;
  std::vector<std::int64_t> first_;  // [n_blocks + 1] where they begin; empty: each block_size_
};

using Colours = std::vector<std::int32_t>;  // [n_items]

/// @return The number of colours.
std::int64_t first_fit(Colours& colour_of, const Items& items, const Part& part, ColourSets& sets) {
  std::int64_t n_colours = 0;
  for (std::int64_t item = part.begin; item < part.end; ++item) {
    const auto visit = [&items, item](const auto& f) { items.visit(item, f); };
    const bool is_next = item > part.begin && items.follows(item);
    const std::int64_t least = is_next ? colour_of[static_cast<std::size_t>(item - 1)] + 1 : 0;
    const std::int64_t colour = sets.take_lowest(visit, least);
    colour_of[static_cast<std::size_t>(item)] = static_cast<std::int32_t>(colour);
    n_colours = std::max(n_colours, colour + 1);
  }
  return n_colours;
}

/// The smallest colour below `limit` items that is not busy, or `colour` if there is none.
std::int32_t smallest_free(const std::vector<std::int64_t>& n_items, std::uint64_t busy,
                           std::int64_t limit, std::int32_t colour) {
  std::int32_t best = colour;
  for (std::size_t other = 0; other < n_items.size(); ++other) {
    const bool is_free = (busy >> other & 1) == 0;
    if (is_free && n_items[other] < limit &&
        n_items[other] < n_items[static_cast<std::size_t>(best)]) {
      best = static_cast<std::int32_t>(other);
    }
  }
  return best;
}

/// Move items from colours larger than the mean to the smallest colour that is free for them.
/// @pre At most 64 colours.
void balance(Colours& colour_of, std::int64_t n_colours, ColourSets& sets, const Items& items,
             const Part& part) {
  const std::int64_t mean = (part.size() + n_colours - 1) / n_colours;
  std::vector<std::int64_t> n_items(static_cast<std::size_t>(n_colours), 0);
  for (std::int64_t item = part.begin; item < part.end; ++item) {
    ++n_items[static_cast<std::size_t>(colour_of[static_cast<std::size_t>(item)])];
  }
  for (std::int64_t item = part.end - 1; item >= part.begin; --item) {
    std::int32_t& colour = colour_of[static_cast<std::size_t>(item)];
    if (n_items[static_cast<std::size_t>(colour)] <= mean) continue;
    std::uint64_t busy = 0;
    items.visit(item, [&sets, &busy](std::int64_t target) { busy |= sets.first(target); });
    const std::int32_t best = smallest_free(n_items, busy, mean, colour);
    if (best == colour) continue;
    const std::uint64_t gone = std::uint64_t{1} << colour;
    const std::uint64_t come = std::uint64_t{1} << best;
    // A target may come twice: clearing and setting, unlike flipping, are right then too.
    items.visit(item, [&sets, gone, come](std::int64_t target) {
      sets.first(target) = (sets.first(target) & ~gone) | come;
    });
    --n_items[static_cast<std::size_t>(colour)];
    ++n_items[static_cast<std::size_t>(best)];
    colour = best;
  }
}

/// Colours of the items, and what there is to say of the targets.
struct Colouring {
  Colours colour_of;
  std::int64_t n_colours = 0;
  ColourStatistics statistics;
};

Colouring colour_items(const Footprint& footprint, const Items& items, int n_threads) {
  Colouring colouring;
  colouring.colour_of.resize(static_cast<std::size_t>(items.size()));
  struct Coloured {
    Part part;
    std::int64_t n_colours;
  };
  std::vector<ColourSets> sets;
  std::vector<Coloured> coloured;
  for (const Part& part : items.parts()) {
    if (part.size() == 0) continue;
    ColourSets& seen = sets.emplace_back(footprint.n_targets());
    coloured.push_back({part, first_fit(colouring.colour_of, items, part, seen)});
  }
  measure_targets(colouring.statistics, sets, footprint.n_targets(), n_threads);
  for (std::size_t i = 0; i < coloured.size(); ++i) {
    const auto& [part, n_colours] = coloured[i];
    const bool can_move = n_colours <= 64 && !items.have_order();
    if (n_colours > 1 && can_move) balance(colouring.colour_of, n_colours, sets[i], items, part);
    if (colouring.n_colours > 0) {  // behind those of the part before
      for (std::int64_t item = part.begin; item < part.end; ++item) {
        colouring.colour_of[static_cast<std::size_t>(item)] +=
            static_cast<std::int32_t>(colouring.n_colours);
      }
    }
    colouring.n_colours += n_colours;
  }
  return colouring;
}

/// Sort items by colour: place(where, item). Returns the colours' offsets.
template <class Place>
std::vector<std::int64_t> sort_by_colour(const Colouring& colouring, int n_threads,
                                         const Place& place) {
  const Colours& colour_of = colouring.colour_of;
  const auto walk = [&colour_of](std::int64_t begin, std::int64_t end, const auto& f) {
    for (std::int64_t item = begin; item < end; ++item) {
      f(colour_of[static_cast<std::size_t>(item)], item);
    }
  };
  return bucket_sort(n_threads, static_cast<std::int64_t>(colour_of.size()), colouring.n_colours,
                     walk, place);
}

template <class Index>
std::vector<std::int64_t> sort_elements(const Colouring& colouring, const MapPointer& subset,
                                        std::vector<Index>& sorted, int n_threads) {
  const auto place = [&subset, &sorted](std::int64_t where, std::int64_t position) {
    sorted[static_cast<std::size_t>(where)] =
        static_cast<Index>(subset ? subset->at(position, 0) : position);
  };
  return sort_by_colour(colouring, n_threads, place);
}

}  // namespace

std::int64_t BlockPlan::bytes() const {
  return bytes_of(block_offset) + bytes_of(colour_offset) + bytes_of(block_of);
}

std::int64_t ElementPlan::bytes() const {
  return bytes_of(colour_offset) + bytes_of(elements);
}

BlockPlan colour_blocks(const ConflictSet& loop, std::int64_t block_size, int n_threads) {
  if (block_size < 1) {
    throw UsageError(fmt::format("plan: block size {}, must be >= 1", block_size));
  }
  const Footprint footprint = footprint_of(loop, n_threads);
  // A block larger than the loop is the loop; smaller numbers cannot overflow.
  const Items blocks(footprint, loop,
                     std::min(block_size, std::max<std::int64_t>(loop.elements.n, 1)));
  const Colouring colouring = colour_items(footprint, blocks, n_threads);
  BlockPlan plan;
  plan.block_size = block_size;
  plan.n_core_blocks = blocks.n_core();
  for (std::int64_t b = 0; b <= blocks.size(); ++b) plan.block_offset.push_back(blocks.begin_of(b));
  plan.block_of.resize(static_cast<std::size_t>(blocks.size()));
  const auto place = [&plan](std::int64_t where, std::int64_t block) {
    plan.block_of[static_cast<std::size_t>(where)] = block;
  };
  plan.colour_offset = sort_by_colour(colouring, n_threads, place);
  plan.statistics = colouring.statistics;
  measure_colours(plan.statistics, plan.colour_offset);
  return plan;
}

ElementPlan colour_elements(const ConflictSet& loop, int n_threads) {
  const Footprint footprint = footprint_of(loop, n_threads);
  const std::int64_t n = loop.elements.n;
  const MapPointer subset =
      loop.origin == EntryOrigin::element ? loop.elements.subset : MapPointer();
  const Colouring colouring = colour_items(footprint, Items(footprint, loop, 1), n_threads);
  ElementPlan plan;
  plan.elements = make_index_array(n, subset ? subset->n_targets() : n);
  plan.colour_offset =
      std::visit([&colouring, &subset, n_threads](
                     auto& sorted) { return sort_elements(colouring, subset, sorted, n_threads); },
                 plan.elements);
  plan.statistics = colouring.statistics;
  measure_colours(plan.statistics, plan.colour_offset);
  return plan;
}

}  // namespace op2::plan
