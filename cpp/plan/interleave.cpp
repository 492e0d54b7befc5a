// SPDX-License-Identifier: BSD-3-Clause
#include "plan/interleave.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "plan/at.hpp"
#include "plan/permutation.hpp"

namespace op2::plan {
namespace {

using Keys = std::vector<std::uint64_t>;

void check_windows(const mesh::MapTable& map, std::int64_t n, std::int64_t window) {
  if (window >= 1 && n <= map.n_rows()) return;
  throw UsageError(
      fmt::format("plan: cannot interleave {} elements of a map of {} rows in windows of {}", n,
                  map.n_rows(), window));
}

/// The smallest target of each element; one past all targets if it has none.
Keys smallest_targets(const mesh::MapTable& map, std::int64_t n, int n_threads) {
  Keys keys(at(n));
  const auto find = [&map, &keys](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t e = begin; e < end; ++e) {
      std::int64_t smallest = map.n_targets();
      for (int slot = 0; slot < map.arity(); ++slot) {
        const std::int64_t target = map.at(e, slot);
        if (target >= 0) smallest = std::min(smallest, target);
      }
      keys[at(e)] = static_cast<std::uint64_t>(smallest);
    }
  };
  parallel_for(n_threads, n, find);
  return keys;
}

constexpr std::int64_t sample = 4096;
constexpr std::int64_t n_samples = 8;

/// What scatter() counts.
struct Pieces {
  std::int64_t touched = 0;
  std::int64_t fewest = 0;
};

/// Add those of the elements [begin, end), which are put in order by themselves.
void count_pieces(const mesh::MapTable& map, std::int64_t begin, std::int64_t end,
                  const ScatterLayout& layout, Pieces& pieces) {
  const std::int64_t warp = layout.lanes;
  const std::int64_t piece = layout.sector_targets;
  const auto* values = static_cast<const char*>(map.values());
  const mesh::MapTable part(values + begin * map.arity() * map.index_bytes(), map.index_bytes(),
                            end - begin, map.arity(), map.n_targets());
  const Interleaved plan = interleave(part, {end - begin, nullptr}, layout.window, 1);
  const auto element = [&plan](std::int64_t i) {
    return std::visit([i](const auto& order) { return static_cast<std::int64_t>(order[at(i)]); },
                      plan.order);
  };
  std::vector<std::int64_t> touched;
  for (std::int64_t first = 0; first + warp <= end - begin; first += warp) {
    for (int slot = 0; slot < map.arity(); ++slot) {
      touched.clear();
      for (std::int64_t i = first; i < first + warp; ++i) {
        const std::int64_t target = part.at(element(i), slot);
        if (target >= 0) touched.push_back(target / piece);
      }
      std::sort(touched.begin(), touched.end());
      pieces.touched += std::unique(touched.begin(), touched.end()) - touched.begin();
      pieces.fewest += (static_cast<std::int64_t>(touched.size()) + piece - 1) / piece;
    }
  }
}

}  // namespace

double scatter(const mesh::MapTable& map, std::int64_t n, const ScatterLayout& layout) {
  check_windows(map, n, layout.window);
  if (layout.lanes < 1 || layout.sector_targets < 1) {
    throw UsageError("scatter: there must be lanes, and targets in a sector");
  }
  Pieces pieces;
  const std::int64_t n_parts = std::min(n_samples, (n + sample - 1) / sample);
  for (std::int64_t part = 0; part < n_parts; ++part) {
    const std::int64_t begin = part * std::max(n / n_parts, sample);
    count_pieces(map, begin, std::min(n, begin + sample), layout, pieces);
  }
  const auto fewest = static_cast<double>(pieces.fewest);
  return fewest > 0 ? static_cast<double>(pieces.touched) / fewest : 1.0;
}

Interleaved interleave(const mesh::MapTable& map, const Elements& elements, std::int64_t window,
                       int n_threads) {
  const std::int64_t n = elements.n;
  if (elements.subset) throw InternalError("interleave: elements of a Subset");
  check_windows(map, n, window);
  const std::int64_t n_core = elements.n_core();
  const std::array<std::int64_t, 3> parts{0, n_core, n};
  const Keys smallest = smallest_targets(map, n, n_threads);
  std::vector<std::int64_t> order = order_by_key(smallest, parts, n_threads);

  struct Place {
    std::int64_t rank;  // among the elements of its target
    std::uint64_t target;
    std::int64_t element;
  };
  std::vector<Place> places;
  const auto end_of_window = [&](std::int64_t first) {
    const std::uint64_t last = smallest[at(order[at(first)])] / static_cast<std::uint64_t>(window);
    const std::int64_t stop = first < n_core ? n_core : n;
    std::int64_t i = first;
    while (i < stop && smallest[at(order[at(i)])] / static_cast<std::uint64_t>(window) == last) ++i;
    return i;
  };
  for (std::int64_t first = 0; first < n;) {
    const std::int64_t end = end_of_window(first);
    places.clear();
    for (std::int64_t i = first; i < end; ++i) {
      const std::uint64_t target = smallest[at(order[at(i)])];
      const bool is_next = !places.empty() && places.back().target == target;
      places.push_back({is_next ? places.back().rank + 1 : 0, target, order[at(i)]});
    }
    std::stable_sort(places.begin(), places.end(),
                     [](const Place& a, const Place& b) { return a.rank < b.rank; });
    for (const Place& place : places) order[at(first++)] = place.element;
  }

  Interleaved plan{make_index_array(n, n)};
  std::visit(
      [&order](auto& indices) {
        using Index = typename std::decay_t<decltype(indices)>::value_type;
        std::transform(order.begin(), order.end(), indices.begin(),
                       [](std::int64_t element) { return static_cast<Index>(element); });
      },
      plan.order);
  return plan;
}

TargetTable reordered(const mesh::MapTable& map, const Interleaved& plan, int n_threads) {
  return std::visit(
      [&map, n_threads](const auto& order) {
        const auto n = static_cast<std::int64_t>(order.size());
        const auto copy = [&](auto&& rows) {
          using Index = typename std::decay_t<decltype(rows)>::value_type;
          const auto* source = static_cast<const Index*>(map.values());
          const std::int64_t arity = map.arity();
          const auto fill = [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t i = begin; i < end; ++i) {
              std::copy_n(source + static_cast<std::int64_t>(order[at(i)]) * arity, arity,
                          rows.data() + i * arity);
            }
          };
          rows.resize(at(n * arity));
          parallel_for(n_threads, n, fill);
          TargetTable table{std::move(rows), nullptr};
          table.map =
              std::make_unique<mesh::MapTable>(std::get<std::vector<Index>>(table.values).data(),
                                               map.index_bytes(), n, map.arity(), map.n_targets());
          return table;
        };
        if (map.index_bytes() == 4) return copy(std::vector<std::int32_t>());
        return copy(std::vector<std::int64_t>());
      },
      plan.order);
}

}  // namespace op2::plan
