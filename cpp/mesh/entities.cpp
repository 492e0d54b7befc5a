// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/entities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.hpp"
#include "base/parallel.hpp"

namespace op2::mesh {
namespace {

/// Sorted vertices of an entity; what it has fewer than four of is -1.
using Corners = std::array<std::int32_t, max_corners>;

std::int32_t& at(Corners& corners, int i) {
  return corners[static_cast<std::size_t>(i)];
}

// By insertion: there are at most four, and GCC 12 warns of bounds in std::sort.
Corners sorted_corners(const std::int32_t* vertices, int n_corners) {
  Corners found{-1, -1, -1, -1};
  for (int i = 0; i < n_corners; ++i) {
    int place = i;
    for (; place > 0 && at(found, place - 1) > vertices[i]; --place) {
      at(found, place) = at(found, place - 1);
    }
    at(found, place) = vertices[i];
  }
  return found;
}

/// The uses of all cells, and what is at their corners.
struct Uses {
  const std::int32_t* cells;
  std::int64_t arity;
  std::int64_t n_cells;
  std::span<const std::int32_t> slots;  // [n_local * n_corners]
  int n_corners;

  [[nodiscard]] std::int64_t n_local() const {
    return static_cast<std::int64_t>(slots.size()) / n_corners;
  }
  [[nodiscard]] std::int64_t size() const { return n_cells * n_local(); }

  void vertices(std::int64_t use, std::int32_t* found) const {
    const std::int32_t* cell = cells + use / n_local() * arity;
    const std::int64_t first = use % n_local() * n_corners;
    for (int i = 0; i < n_corners; ++i) {
      found[i] = cell[slots[static_cast<std::size_t>(first + i)]];
    }
  }

  [[nodiscard]] Corners corners(std::int64_t use) const {
    Corners found{};
    vertices(use, found.data());
    return sorted_corners(found.data(), n_corners);
  }
};

/// The least vertex of each use. Every corner is checked here, before it is used as an index.
std::vector<std::int32_t> least_vertices(const Uses& uses, std::int64_t n_vertices, int n_threads) {
  std::vector<std::int32_t> least(static_cast<std::size_t>(uses.size()));
  parallel_for(n_threads, uses.size(),
               [&uses, &least, n_vertices](std::int64_t begin, std::int64_t end, int /*thread*/) {
                 for (std::int64_t use = begin; use < end; ++use) {
                   const Corners corners = uses.corners(use);
                   const auto last = corners.begin() + uses.n_corners;
                   const auto twice = std::adjacent_find(corners.begin(), last);
                   const std::int64_t cell = use / uses.n_local();
                   if (twice != last) {
                     throw UsageError(fmt::format(
                         "cell {} names vertex {} twice; its corners must differ", cell, *twice));
                   }
                   if (corners[0] < 0 || *(last - 1) >= n_vertices) {
                     throw UsageError(fmt::format("cell {} names vertex {}; there are 0 to {}",
                                                  cell, corners[0] < 0 ? corners[0] : *(last - 1),
                                                  n_vertices - 1));
                   }
                   least[static_cast<std::size_t>(use)] = corners[0];
                 }
               });
  return least;
}

/// Uses by their least vertex, as compressed rows; ascending within each.
struct Buckets {
  std::vector<std::int64_t> offset;  // [n_vertices + 1]
  std::vector<std::int64_t> uses;    // [n_uses]
};

// By one thread: what follows takes longer, and counters of each thread's own would take
// n_threads * n_vertices of memory.
Buckets by_least_vertex(const std::vector<std::int32_t>& least, std::int64_t n_vertices) {
  Buckets buckets;
  buckets.offset.assign(static_cast<std::size_t>(n_vertices) + 1, 0);
  for (const std::int32_t vertex : least) ++buckets.offset[static_cast<std::size_t>(vertex) + 1];
  for (std::size_t i = 1; i < buckets.offset.size(); ++i) {
    buckets.offset[i] += buckets.offset[i - 1];
  }
  std::vector<std::int64_t> next(buckets.offset.begin(), buckets.offset.end() - 1);
  buckets.uses.resize(least.size());
  for (std::size_t use = 0; use < least.size(); ++use) {
    const auto vertex = static_cast<std::size_t>(least[use]);
    buckets.uses[static_cast<std::size_t>(next[vertex]++)] = static_cast<std::int64_t>(use);
  }
  return buckets;
}

/// Sort the uses of one bucket by their corners, and mark by its complement each use that is the
/// first of its entity.
/// @return How many entities there are.
std::int64_t mark_first_uses(const Uses& uses, std::span<std::int64_t> bucket,
                             std::vector<std::pair<Corners, std::int64_t>>& work) {
  work.clear();
  for (const std::int64_t use : bucket) work.emplace_back(uses.corners(use), use);
  std::sort(work.begin(), work.end());
  std::int64_t n = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const bool is_first = i == 0 || work[i].first != work[i - 1].first;
    bucket[i] = is_first ? ~work[i].second : work[i].second;
    n += is_first ? 1 : 0;
  }
  return n;
}

/// Entities that begin in each chunk of vertices, then where each chunk's numbers begin.
std::vector<std::int64_t> mark_and_count(const Uses& uses, Buckets& buckets,
                                         std::int64_t n_vertices, int n_threads) {
  std::vector<std::int64_t> begins(static_cast<std::size_t>(std::max(n_threads, 1)) + 1, 0);
  parallel_for(n_threads, n_vertices,
               [&uses, &buckets, &begins](std::int64_t begin, std::int64_t end, int chunk) {
                 std::vector<std::pair<Corners, std::int64_t>> work;
                 std::int64_t n = 0;
                 for (auto vertex = static_cast<std::size_t>(begin);
                      vertex < static_cast<std::size_t>(end); ++vertex) {
                   const auto first = static_cast<std::size_t>(buckets.offset[vertex]);
                   const auto last = static_cast<std::size_t>(buckets.offset[vertex + 1]);
                   n += mark_first_uses(uses, std::span(buckets.uses).subspan(first, last - first),
                                        work);
                 }
                 begins[static_cast<std::size_t>(chunk) + 1] = n;
               });
  for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  return begins;
}

/// Give the marked uses of [begin, end) their numbers, from @p next on.
/// @return The first entity with more than two uses, or -1.
std::int64_t number_marked(const Uses& uses, std::span<const std::int64_t> marked,
                           std::int64_t next, Entities& found) {
  std::int64_t crowded = -1;
  std::int64_t entity = next - 1;
  for (const std::int64_t mark : marked) {
    const std::int64_t use = mark < 0 ? ~mark : mark;
    if (mark < 0) ++entity;
    const auto place = static_cast<std::size_t>(entity);
    found.of_cells[static_cast<std::size_t>(use)] = static_cast<std::int32_t>(entity);
    if (mark < 0) {
      found.first_use[place] = use;
      uses.vertices(use, &found.vertices[place * static_cast<std::size_t>(found.n_corners)]);
    } else if (found.second_use[place] < 0) {
      found.second_use[place] = use;
    } else if (crowded < 0) {
      crowded = entity;
    }
  }
  return crowded;
}

void check_request(const MapTable& cells, std::span<const std::int32_t> corners, int n_corners) {
  if (cells.index_bytes() != 4) {
    throw UsageError("a mesh has at most 2^31 - 1 vertices, as its cells name them by int32");
  }
  if (n_corners < 1 || n_corners > max_corners ||
      corners.size() % static_cast<std::size_t>(n_corners) != 0 || corners.empty()) {
    throw UsageError(fmt::format("{} corners of entities with {} each", corners.size(), n_corners));
  }
  for (const std::int32_t slot : corners) {
    if (slot < 0 || slot >= cells.arity()) {
      throw UsageError(fmt::format("corner {} of a cell with {} vertices", slot, cells.arity()));
    }
  }
}

}  // namespace

Entities number_entities(const MapTable& cells, std::span<const std::int32_t> corners,
                         int n_corners, int n_threads) {
  check_request(cells, corners, n_corners);
  const Uses uses{static_cast<const std::int32_t*>(cells.values()), cells.arity(), cells.n_rows(),
                  corners, n_corners};
  const std::int64_t n_vertices = cells.n_targets();
  Buckets buckets = by_least_vertex(least_vertices(uses, n_vertices, n_threads), n_vertices);
  const std::vector<std::int64_t> begins = mark_and_count(uses, buckets, n_vertices, n_threads);
  const std::int64_t n = begins.back();
  if (n > std::numeric_limits<std::int32_t>::max()) {
    throw UsageError(fmt::format("the mesh has {} edges or facets; at most 2^31 - 1 work", n));
  }
  Entities found;
  found.n_corners = n_corners;
  found.of_cells.resize(static_cast<std::size_t>(uses.size()));
  found.vertices.resize(static_cast<std::size_t>(n * n_corners));
  found.first_use.resize(static_cast<std::size_t>(n));
  found.second_use.assign(static_cast<std::size_t>(n), -1);
  std::vector<std::int64_t> crowded(begins.size(), -1);
  parallel_for(n_threads, n_vertices, [&](std::int64_t begin, std::int64_t end, int chunk) {
    const auto from = static_cast<std::size_t>(buckets.offset[static_cast<std::size_t>(begin)]);
    const auto to = static_cast<std::size_t>(buckets.offset[static_cast<std::size_t>(end)]);
    const auto place = static_cast<std::size_t>(chunk);
    crowded[place] =
        number_marked(uses, std::span<const std::int64_t>(buckets.uses).subspan(from, to - from),
                      begins[place], found);
  });
  for (const std::int64_t entity : crowded) {
    if (found.crowded < 0) found.crowded = entity;
  }
  return found;
}

std::vector<std::int64_t> find_entities(std::span<const std::int32_t> vertices,
                                        std::span<const std::int32_t> rows, int n_corners,
                                        int n_threads) {
  if (n_corners < 1 || n_corners > max_corners) {
    throw UsageError(fmt::format("entities with {} corners", n_corners));
  }
  const auto n = static_cast<std::int64_t>(vertices.size()) / n_corners;
  const auto n_rows = static_cast<std::int64_t>(rows.size()) / n_corners;
  std::vector<std::int64_t> found(static_cast<std::size_t>(n_rows), -1);
  const auto corners = [n_corners](std::span<const std::int32_t> of, std::int64_t i) {
    return sorted_corners(&of[static_cast<std::size_t>(i * n_corners)], n_corners);
  };
  parallel_for(n_threads, n_rows, [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
    for (std::int64_t row = begin; row < end; ++row) {
      const Corners wanted = corners(rows, row);
      std::int64_t low = 0;
      std::int64_t high = n;
      while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (corners(vertices, middle) < wanted) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      if (low < n && corners(vertices, low) == wanted) found[static_cast<std::size_t>(row)] = low;
    }
  });
  return found;
}

}  // namespace op2::mesh
