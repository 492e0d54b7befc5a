// SPDX-License-Identifier: BSD-3-Clause
#include "plan/slot_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "plan/at.hpp"

namespace op2::plan {
namespace {

/// The rows of an inverse that is sorted by slot, slot by slot.
template <class Entry>
class Rows {
 public:
  Rows(const InverseMap& inverse, const std::vector<Entry>& entries)
      : inverse_(inverse), entries_(entries) {}

  /// Call f(slot, begin, end) for each slot that the row has incidences of.
  template <class F>
  void for_slots(std::int64_t row, const F& f) const {
    const std::int64_t end = inverse_.offset[at(row + 1)];
    for (std::int64_t begin = inverse_.offset[at(row)]; begin < end;) {
      const std::int64_t slot = slot_of(begin);
      std::int64_t next = begin + 1;
      while (next < end && slot_of(next) == slot) ++next;
      f(slot, begin, next);
      begin = next;
    }
  }

  [[nodiscard]] Entry element(std::int64_t i) const {
    return static_cast<Entry>(entries_[at(i)] / inverse_.n_occurrences);
  }

 private:
  [[nodiscard]] std::int64_t slot_of(std::int64_t i) const {
    return entries_[at(i)] % inverse_.n_occurrences;
  }

  const InverseMap& inverse_;
  const std::vector<Entry>& entries_;
};

/// The rows of each window, those with as many incidences of each slot side by side.
template <class Entry>
std::vector<std::int64_t> order_of(const InverseMap& inverse, const Rows<Entry>& rows,
                                   std::int64_t window, int n_threads) {
  std::vector<std::int64_t> order(at(inverse.n_rows));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const std::int64_t width = inverse.n_occurrences;
  const std::int64_t n_core = inverse.n_core_rows;
  const auto windows_of = [window](std::int64_t n) { return (n + window - 1) / window; };
  const std::int64_t n_core_windows = windows_of(n_core);
  const auto begin_of = [&](std::int64_t one) {
    if (one <= n_core_windows) return std::min(one * window, n_core);
    return std::min(n_core + (one - n_core_windows) * window, inverse.n_rows);
  };
  const auto sort_windows = [&](std::int64_t begin, std::int64_t end, int) {
    std::vector<std::int64_t> counts(at(window * width));  // [window, width]
    for (std::int64_t one = begin; one < end; ++one) {
      const std::int64_t first = begin_of(one);
      const std::int64_t last = begin_of(one + 1);
      std::fill(counts.begin(), counts.end(), 0);
      const auto counts_of = [&](std::int64_t row) { return &counts[at((row - first) * width)]; };
      for (std::int64_t row = first; row < last; ++row) {
        rows.for_slots(row, [&](std::int64_t slot, std::int64_t from, std::int64_t to) {
          counts_of(row)[slot] = to - from;
        });
      }
      std::stable_sort(order.begin() + first, order.begin() + last,
                       [&](std::int64_t a, std::int64_t b) {
                         return std::lexicographical_compare(counts_of(a), counts_of(a) + width,
                                                             counts_of(b), counts_of(b) + width);
                       });
    }
  };
  parallel_for(n_threads, n_core_windows + windows_of(inverse.n_rows - n_core), sort_windows, 16);
  return order;
}

/// Columns of each slot that the rows of one group need.
template <class Entry>
void count_columns(const Rows<Entry>& rows, std::span<const std::int64_t> group,
                   std::vector<std::int64_t>& widths) {
  std::fill(widths.begin(), widths.end(), 0);
  for (const std::int64_t row : group) {
    rows.for_slots(row, [&widths](std::int64_t slot, std::int64_t first, std::int64_t last) {
      widths[at(slot)] = std::max(widths[at(slot)], last - first);
    });
  }
}

/// Lanes without an incidence repeat an element of their column: what they read is there, and near.
template <class Entry>
void fill_gaps(Entry* column, int lanes) {
  const Entry* found = std::find_if(column, column + lanes, [](Entry e) { return e >= 0; });
  Entry near = *found;
  for (Entry* lane = column; lane != column + lanes; ++lane) {
    if (*lane < 0) {
      *lane = static_cast<Entry>(-1 - near);
    } else {
      near = *lane;
    }
  }
}

IndexArray targets_of(const InverseMap& inverse, const std::vector<std::int64_t>& order) {
  IndexArray targets = make_index_array(inverse.n_rows, inverse.n_targets);
  const auto target_of = [&inverse](std::int64_t row) {
    if (!inverse.lists_rows) return row;
    return std::visit([row](const auto& rows) { return std::int64_t{rows[at(row)]}; },
                      inverse.rows);
  };
  std::visit(
      [&](auto& indices) {
        using Index = typename std::decay_t<decltype(indices)>::value_type;
        std::transform(order.begin(), order.end(), indices.begin(),
                       [&](std::int64_t row) { return static_cast<Index>(target_of(row)); });
      },
      targets);
  return targets;
}

/// @param[in] order The row of each lane, group by group.
template <class Entry>
void lay_out(const InverseMap& inverse, const Rows<Entry>& rows,
             const std::vector<std::int64_t>& order, SlotColumns& columns, int n_threads) {
  const std::int64_t lanes = columns.lanes;
  const std::int64_t n_groups = (inverse.n_rows + lanes - 1) / lanes;
  const auto rows_of = [&](std::int64_t group) {
    const std::int64_t first = group * lanes;
    return std::span(order).subspan(at(first), at(std::min(lanes, inverse.n_rows - first)));
  };
  columns.column_offset.assign(at(n_groups + 1), 0);
  const auto each_group = [&](const auto& f) {
    parallel_for(n_threads, n_groups, [&](std::int64_t begin, std::int64_t end, int) {
      std::vector<std::int64_t> widths(at(inverse.n_occurrences));
      for (std::int64_t group = begin; group < end; ++group) {
        count_columns(rows, rows_of(group), widths);
        f(group, widths);
      }
    });
  };
  each_group([&columns](std::int64_t group, const std::vector<std::int64_t>& widths) {
    columns.column_offset[at(group + 1)] =
        std::accumulate(widths.begin(), widths.end(), std::int64_t{0});
  });
  std::partial_sum(columns.column_offset.begin(), columns.column_offset.end(),
                   columns.column_offset.begin());
  columns.slot.resize(at(columns.n_columns()));
  std::vector<Entry> elements(at(columns.n_columns() * lanes), Entry{-1});
  each_group([&](std::int64_t group, std::vector<std::int64_t>& widths) {
    std::int64_t column = columns.column_offset[at(group)];
    for (std::size_t slot = 0; slot < widths.size(); ++slot) {  // widths become where slots begin
      const std::int64_t width = std::exchange(widths[slot], column);
      std::fill_n(columns.slot.begin() + column, width, static_cast<std::int32_t>(slot));
      column += width;
    }
    std::int64_t lane = 0;
    for (const std::int64_t row : rows_of(group)) {
      rows.for_slots(row, [&](std::int64_t slot, std::int64_t begin, std::int64_t end) {
        std::int64_t place = widths[at(slot)] * lanes + lane;
        for (std::int64_t i = begin; i < end; ++i, place += lanes) {
          elements[at(place)] = rows.element(i);
        }
      });
      ++lane;
    }
    for (std::int64_t i = columns.column_offset[at(group)]; i < column; ++i) {
      fill_gaps(elements.data() + i * lanes, columns.lanes);
    }
  });
  columns.elements = std::move(elements);
}

/// Lanes of the last group without a row get the elements of its last row.
void repeat_last_lane(SlotColumns& columns) {
  const std::int64_t lanes = columns.lanes;
  const std::int64_t n_live = columns.n_rows % lanes;
  if (n_live == 0) return;
  const std::int64_t first = columns.column_offset[at(columns.n_groups() - 1)];
  std::visit(
      [&](auto& elements) {
        for (std::int64_t i = first; i < columns.n_columns(); ++i) {
          for (std::int64_t lane = n_live; lane < lanes; ++lane) {
            elements[at(i * lanes + lane)] = elements[at(i * lanes + n_live - 1)];
          }
        }
      },
      columns.elements);
}

SlotColumns no_columns(const InverseMap& inverse, int lanes) {
  if (inverse.order != IncidenceOrder::by_slot) {
    throw UsageError("plan: columns of one slot need an inverse map sorted by slot");
  }
  SlotColumns columns;
  columns.n_targets = inverse.n_targets;
  columns.n_rows = inverse.n_rows;
  columns.n_occurrences = inverse.n_occurrences;
  columns.lanes = lanes;
  columns.n_incidences = inverse.n_entries();
  return columns;
}

/// A group with rows of both sides is none of the core.
std::int64_t core_groups(const InverseMap& inverse, const SlotColumns& columns) {
  if (inverse.n_core_rows == inverse.n_rows) return columns.n_groups();
  return inverse.n_core_rows / columns.lanes;
}

}  // namespace

double SlotColumns::fill() const {
  const std::int64_t n_lanes = n_columns() * lanes;
  return n_lanes == 0 ? 1.0 : static_cast<double>(n_incidences) / static_cast<double>(n_lanes);
}

std::int64_t SlotColumns::bytes() const {
  return bytes_of(targets) + bytes_of(column_offset) + bytes_of(slot) + bytes_of(elements);
}

SlotColumns slot_columns(const InverseMap& inverse, const SlotLayout& layout, int n_threads) {
  const int lanes = layout.lanes;
  SlotColumns columns = no_columns(inverse, lanes);
  if (lanes < 1) throw UsageError(fmt::format("plan: columns of {} lanes", lanes));
  if (layout.window < 1 || layout.window % lanes != 0) {
    throw UsageError(
        fmt::format("plan: columns of {} lanes in windows of {}", lanes, layout.window));
  }
  std::visit(
      [&](const auto& entries) {
        const Rows rows(inverse, entries);
        const std::vector<std::int64_t> order = order_of(inverse, rows, layout.window, n_threads);
        columns.targets = targets_of(inverse, order);
        lay_out(inverse, rows, order, columns, n_threads);
      },
      inverse.entries);
  columns.n_core_groups = core_groups(inverse, columns);
  return columns;
}

SlotColumns slot_columns_in_order(const InverseMap& inverse, int lanes, int n_threads) {
  SlotColumns columns = no_columns(inverse, lanes);
  if (lanes < 1 || inverse.lists_rows) {
    throw UsageError(fmt::format("plan: columns of {} lanes, of rows in their order", lanes));
  }
  std::vector<std::int64_t> order(at(inverse.n_rows));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::visit(
      [&](const auto& entries) {
        lay_out(inverse, Rows(inverse, entries), order, columns, n_threads);
      },
      inverse.entries);
  repeat_last_lane(columns);
  return columns;
}

SlotColumns slot_columns_like(const InverseMap& inverse, const SlotColumns& like, int n_threads) {
  SlotColumns columns = no_columns(inverse, like.lanes);
  if (inverse.lists_rows || inverse.n_rows != like.n_rows || like.n_rows != like.n_targets) {
    throw UsageError(fmt::format("plan: columns like others of {} rows, for an inverse of {} rows",
                                 like.n_rows, inverse.n_rows));
  }
  std::vector<std::int64_t> order;
  std::visit([&order](const auto& targets) { order.assign(targets.begin(), targets.end()); },
             like.targets);
  std::visit(
      [&](const auto& entries) {
        lay_out(inverse, Rows(inverse, entries), order, columns, n_threads);
      },
      inverse.entries);
  return columns;
}

}  // namespace op2::plan
