// SPDX-License-Identifier: BSD-3-Clause
#include "plan/staging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "plan/at.hpp"
#include "plan/footprint.hpp"

namespace op2::plan {
namespace {

constexpr std::int64_t block_grain = 16;  // blocks that are worth a thread

void check_staging(const ConflictSet& loop, const std::vector<MapPointer>& staged,
                   std::int64_t block_size) {
  if (loop.elements.subset && !staged.empty()) {
    throw UsageError("plan: targets of subsets cannot be staged");
  }
  constexpr std::int64_t n_positions = std::numeric_limits<std::uint16_t>::max();
  for (const MapPointer& map : staged) {
    if (block_size * map->arity() > n_positions) {
      throw UsageError(fmt::format(
          "plan: a block of {} elements may reach {} targets through a map of arity {}, and only "
          "{} can be counted; make the blocks smaller",
          block_size, block_size * map->arity(), map->arity(), n_positions));
    }
  }
}

/// First-fit colours of the elements of one block: a bit a colour and target, 64 colours a sweep.
class ThreadColours {
 public:
  explicit ThreadColours(const Footprint& footprint) : footprint_(footprint) {}

  /// @return The number of colours.
  std::int32_t colour(std::int64_t begin, std::int64_t end, std::int32_t* colour_of) {
    std::fill(colour_of + begin, colour_of + end, -1);
    std::int32_t n_colours = 0;
    for (std::int32_t base = 0;; base += 64) {
      busy_.clear();
      bool is_done = true;
      for (std::int64_t n = begin; n < end; ++n) {
        if (colour_of[n] >= 0) continue;
        std::uint64_t busy = 0;
        footprint_.visit(n, n + 1, [this, &busy](std::int64_t target) { busy |= busy_[target]; });
        if (~busy == 0) {
          is_done = false;
          continue;
        }
        const int free = std::countr_one(busy);
        const std::uint64_t bit = std::uint64_t{1} << free;
        footprint_.visit(n, n + 1, [this, bit](std::int64_t target) { busy_[target] |= bit; });
        colour_of[n] = base + free;
        n_colours = std::max(n_colours, base + free + 1);
      }
      if (is_done) return n_colours;
    }
  }

 private:
  const Footprint& footprint_;
  std::unordered_map<std::int64_t, std::uint64_t> busy_;  // colours that a target has seen
};

/// The distinct targets of elements [begin, end), ascending.
std::vector<std::int32_t> targets_of_block(const mesh::MapTable& map, std::int64_t begin,
                                           std::int64_t end) {
  std::vector<std::int32_t> found;
  found.reserve(at((end - begin) * map.arity()));
  for (std::int64_t n = begin; n < end; ++n) {
    for (int slot = 0; slot < map.arity(); ++slot) {
      const std::int64_t target = map.at(n, slot);
      if (target < 0 || target >= map.n_targets() || !fits_int32(target + 1)) {
        throw UsageError(fmt::format("plan: element {}, slot {} maps to {}, which cannot be staged",
                                     n, slot, target));
      }
      found.push_back(static_cast<std::int32_t>(target));
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

class Stager {
 public:
  Stager(StagedPlan& plan, const std::vector<MapPointer>& staged, int n_threads)
      : plan_(plan), staged_(staged), n_threads_(n_threads) {}

  void run() {
    const auto n_blocks = static_cast<std::int64_t>(plan_.first.size());
    const auto n_lists = static_cast<std::int64_t>(staged_.size());
    plan_.n_targets.resize(at(n_blocks * n_lists));
    plan_.first_target.resize(at(n_blocks * n_lists));
    plan_.lists.resize(staged_.size());
    for (std::int64_t list = 0; list < n_lists; ++list) one_list(n_blocks, n_lists, list);
  }

 private:
  void one_list(std::int64_t n_blocks, std::int64_t n_lists, std::int64_t list) {
    const mesh::MapTable& map = *staged_[at(list)];
    StagingList& out = plan_.lists[at(list)];
    std::vector<std::vector<std::int32_t>> targets(at(n_blocks));
    out.positions.resize(plan_.thread_colour.size() * static_cast<std::size_t>(map.arity()));
    parallel_for(
        n_threads_, n_blocks,
        [this, &map, &targets, &out](std::int64_t begin, std::int64_t end, int) {
          for (std::int64_t b = begin; b < end; ++b) {
            const std::int64_t first = plan_.first[at(b)];
            const std::int64_t last = first + plan_.n_elements[at(b)];
            targets[at(b)] = targets_of_block(map, first, last);
            place(map, targets[at(b)], first, last, out);
          }
        },
        block_grain);
    for (std::int64_t b = 0; b < n_blocks; ++b) {
      plan_.first_target[at(b * n_lists + list)] = static_cast<std::int64_t>(out.targets.size());
      plan_.n_targets[at(b * n_lists + list)] = static_cast<std::int32_t>(targets[at(b)].size());
      out.targets.insert(out.targets.end(), targets[at(b)].begin(), targets[at(b)].end());
    }
  }

  static void place(const mesh::MapTable& map, const std::vector<std::int32_t>& targets,
                    std::int64_t first, std::int64_t last, StagingList& out) {
    for (std::int64_t n = first; n < last; ++n) {
      for (int slot = 0; slot < map.arity(); ++slot) {
        const auto found = std::lower_bound(targets.begin(), targets.end(), map.at(n, slot));
        out.positions[at(n * map.arity() + slot)] =
            static_cast<std::uint16_t>(found - targets.begin());
      }
    }
  }

  StagedPlan& plan_;
  const std::vector<MapPointer>& staged_;
  int n_threads_;
};

}  // namespace

std::int64_t StagedPlan::bytes() const {
  std::int64_t sum = bytes_of(colour_offset) + bytes_of(block_of) + bytes_of(first) +
                     bytes_of(n_elements) + bytes_of(n_thread_colours) + bytes_of(thread_colour) +
                     bytes_of(n_targets) + bytes_of(first_target);
  for (const StagingList& list : lists) sum += bytes_of(list.targets) + bytes_of(list.positions);
  return sum;
}

StagedPlan stage(const ConflictSet& loop, const std::vector<MapPointer>& staged,
                 std::int64_t block_size, int n_threads) {
  check_staging(loop, staged, block_size);
  BlockPlan blocks = colour_blocks(loop, block_size, n_threads);
  const auto n_blocks = static_cast<std::int64_t>(blocks.block_of.size());
  StagedPlan plan;
  plan.colour_offset = std::move(blocks.colour_offset);
  plan.statistics = blocks.statistics;
  plan.n_core_blocks = blocks.n_core_blocks;
  plan.block_of.assign(blocks.block_of.begin(), blocks.block_of.end());
  plan.first.assign(blocks.block_offset.begin(), blocks.block_offset.end() - 1);
  plan.n_elements.resize(at(n_blocks));
  plan.n_thread_colours.resize(at(n_blocks));
  plan.thread_colour.resize(at(loop.elements.n));
  const Footprint footprint(loop.elements, canonical(loop.conflicts));
  parallel_for(
      n_threads, n_blocks,
      [&plan, &blocks, &footprint](std::int64_t begin, std::int64_t end, int) {
        ThreadColours colours(footprint);
        for (std::int64_t b = begin; b < end; ++b) {
          const std::int64_t first = blocks.block_offset[at(b)];
          const std::int64_t last = blocks.block_offset[at(b + 1)];
          plan.n_elements[at(b)] = static_cast<std::int32_t>(last - first);
          plan.n_thread_colours[at(b)] = colours.colour(first, last, plan.thread_colour.data());
        }
      },
      block_grain);
  Stager(plan, staged, n_threads).run();
  return plan;
}

}  // namespace op2::plan
