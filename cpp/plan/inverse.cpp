// SPDX-License-Identifier: BSD-3-Clause
#include "plan/inverse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "plan/at.hpp"
#include "plan/bucket_sort.hpp"

namespace op2::plan {
namespace {

/// The incidences of a loop as a sequence, in the order wanted within each target.
class Incidences {
 public:
  explicit Incidences(const InverseSpec& spec)
      : subset_(spec.elements.subset.get()),
        by_slot_(spec.order == IncidenceOrder::by_slot),
        by_position_(spec.origin == EntryOrigin::position),
        n_(spec.elements.n) {
    for (const Occurrence& occurrence : spec.occurrences) {
      columns_.push_back(Column{occurrence.map.get(), occurrence.slot, width_});
      width_ += n_slots(occurrence);
    }
    n_targets_ = static_cast<std::uint64_t>(spec.n_targets());
  }

  /// Occurrences, with each slot of a map counted.
  [[nodiscard]] std::int64_t width() const { return width_; }

  /// Incidences, with those of negative entries.
  [[nodiscard]] std::int64_t n_most() const {
    std::int64_t n = 0;
    for (const Column& column : columns_) {
      if (column.slot != all_slots) {
        n += n_;
      } else if (subset_ == nullptr) {
        n += column.map->begin(n_) - column.map->begin(0);
      } else {
        for (std::int64_t position = 0; position < n_; ++position) {
          n += column.map->n_entries(subset_->at(position, 0));
        }
      }
    }
    return n;
  }

  /// Items of the sequence: elements, or elements of one occurrence after the other.
  [[nodiscard]] std::int64_t n_items() const { return by_slot_ ? n_ * width_ : n_; }

  /// Call f(target, entry) for the incidences of items [begin, end), in order.
  template <class F>
  void walk(std::int64_t begin, std::int64_t end, const F& f) const {
    if (by_slot_) {
      while (begin < end) {
        const std::int64_t occurrence = begin / n_;
        const std::int64_t base = occurrence * n_;
        const std::int64_t stop = std::min(end, base + n_);
        walk_columns(begin - base, stop - base, occurrence, occurrence + 1, f);
        begin = stop;
      }
    } else {
      walk_columns(begin, end, 0, std::ssize(columns_), f);
    }
  }

 private:
  struct Column {
    const mesh::MapTable* map;
    int slot;
    std::int64_t first;  ///< occurrence

    /// Call f(occurrence, target).
    template <class F>
    void visit(std::int64_t element, const F& f) const {
      if (slot != all_slots) return f(first, map->at(element, slot));
      map->visit(element, [&](int at, std::int64_t target) { f(first + at, target); });
    }
  };

  static std::int64_t n_slots(const Occurrence& occurrence) {
    const mesh::MapTable& map = *occurrence.map;
    if (occurrence.slot != all_slots) return 1;
    if (!map.is_ragged()) return map.arity();
    std::int64_t most = 0;
    for (std::int64_t row = 0; row < map.n_rows(); ++row) {
      most = std::max(most, map.n_entries(row));
    }
    return most;
  }

  template <class F>
  void walk_columns(std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t last,
                    const F& f) const {
    for (std::int64_t position = begin; position < end; ++position) {
      const std::int64_t element = subset_ != nullptr ? subset_->at(position, 0) : position;
      const std::int64_t entry = (by_position_ ? position : element) * width_;
      for (std::int64_t column = first; column < last; ++column) {
        columns_[at(column)].visit(element, [&](std::int64_t occurrence, std::int64_t target) {
          // One unsigned comparison tests both ends of the range.
          if (static_cast<std::uint64_t>(target) < n_targets_) f(target, entry + occurrence);
        });
      }
    }
  }

  const mesh::MapTable* subset_;
  bool by_slot_;
  bool by_position_;
  std::int64_t n_;
  std::vector<Column> columns_;
  std::uint64_t n_targets_ = 0;
  std::int64_t width_ = 0;
};

/// An incidence on its way from the first level of the sort to the second.
template <class Entry>
struct Pair {
  std::uint32_t local;  // target within its bucket
  Entry entry;
};

/// Targets a bucket, as a power of two: few enough buckets for their cursors to stay in cache,
/// and buckets small enough for theirs to.
int bucket_shift(std::int64_t n_targets) {
  constexpr int smallest = 10;
  constexpr int n_buckets_log2 = 9;
  const int n_bits = std::bit_width(static_cast<std::uint64_t>(n_targets));
  return std::max(smallest, n_bits - n_buckets_log2);
}

/// Second level: sort the pairs of one bucket by target; fill the bucket's part of the result.
template <class Entry>
void sort_bucket(std::span<const Pair<Entry>> pairs, std::int64_t pairs_begin,
                 std::span<std::int64_t> offset, Entry* entries) {
  std::vector<std::int64_t> next(offset.size(), 0);
  for (const Pair<Entry>& pair : pairs) ++next[pair.local];
  std::int64_t position = pairs_begin;
  for (std::size_t row = 0; row < offset.size(); ++row) {
    offset[row] = position;
    position += std::exchange(next[row], position);
  }
  for (const Pair<Entry>& pair : pairs) entries[next[pair.local]++] = pair.entry;
}

/// Stable sort of the incidences by target, in two levels so that no access leaves the cache
/// whatever the numbering.
template <class Entry>
void sort_incidences(const Incidences& incidences, std::int64_t n_targets, int n_threads,
                     std::vector<std::int64_t>& offset, std::vector<Entry>& entries) {
  const int shift = bucket_shift(n_targets);
  const std::int64_t bucket_width = std::int64_t{1} << shift;
  const std::int64_t n_buckets = (n_targets + bucket_width - 1) >> shift;
  const auto pairs = std::make_unique_for_overwrite<Pair<Entry>[]>(entries.size());
  const std::vector<std::int64_t> bucket_offset = bucket_sort(
      n_threads, incidences.n_items(), n_buckets,
      [&incidences, shift](std::int64_t begin, std::int64_t end, const auto& f) {
        const std::int64_t mask = (std::int64_t{1} << shift) - 1;
        incidences.walk(begin, end, [&f, shift, mask](std::int64_t target, std::int64_t entry) {
          f(target >> shift,
            Pair<Entry>{static_cast<std::uint32_t>(target & mask), static_cast<Entry>(entry)});
        });
      },
      [&pairs](std::int64_t position, const Pair<Entry>& pair) { pairs[position] = pair; });
  entries.resize(static_cast<std::size_t>(bucket_offset.back()));
  const auto sort_range = [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t bucket = begin; bucket < end; ++bucket) {
      const auto b = static_cast<std::size_t>(bucket);
      const std::int64_t first = bucket * bucket_width;
      const std::int64_t last = std::min(first + bucket_width, n_targets);
      sort_bucket<Entry>({pairs.get() + bucket_offset[b], pairs.get() + bucket_offset[b + 1]},
                         bucket_offset[b], {offset.data() + first, offset.data() + last},
                         entries.data());
    }
  };
  parallel_for(n_threads, n_buckets, sort_range, 1);
  offset.back() = bucket_offset.back();
}

void check_occurrences(const InverseSpec& spec, int n_threads) {
  if (spec.occurrences.empty()) throw UsageError("plan: nothing to invert: no occurrences");
  std::vector<MapPointer> maps;
  for (const Occurrence& occurrence : spec.occurrences) {
    if (!occurrence.map) throw UsageError("plan: an occurrence has no map");
    const mesh::MapTable& map = *occurrence.map;
    if (occurrence.slot == all_slots && spec.order == IncidenceOrder::by_slot) {
      throw UsageError("plan: all slots of a map at once are no order by slots");
    }
    if (occurrence.slot != all_slots && (occurrence.slot < 0 || occurrence.slot >= map.arity())) {
      throw UsageError(fmt::format("plan: an occurrence names slot {} of a map of arity {}",
                                   occurrence.slot, map.arity()));
    }
    maps.push_back(occurrence.map);
    if (map.n_targets() != maps.front()->n_targets()) {
      throw UsageError(fmt::format("plan: maps to invert end on sets of {} and {}",
                                   maps.front()->n_targets(), map.n_targets()));
    }
  }
  check_elements(spec.elements, maps, n_threads);
  const bool names_elements = spec.elements.subset && spec.origin == EntryOrigin::element;
  if (spec.elements.n_boundary > 0 && names_elements) {
    throw UsageError("plan: the boundary of a subset is told by positions, not by elements");
  }
}

/// Keep only the rows that have entries; remember whose they are.
void drop_empty_rows(InverseMap& inverse) {
  std::vector<std::int64_t> offset;
  std::vector<std::int64_t> touched;
  for (std::int64_t row = 0; row < inverse.n_rows; ++row) {
    const auto r = static_cast<std::size_t>(row);
    if (inverse.offset[r] == inverse.offset[r + 1]) continue;
    touched.push_back(row);
    offset.push_back(inverse.offset[r]);
  }
  offset.push_back(inverse.offset.back());
  inverse.n_rows = static_cast<std::int64_t>(touched.size());
  inverse.offset = std::move(offset);
  inverse.rows = make_index_array(inverse.n_rows, inverse.n_targets);
  std::visit([&touched](auto& rows) { std::copy(touched.begin(), touched.end(), rows.begin()); },
             inverse.rows);
}

/// For each row whether all of its elements come before the boundary; true of rows without any.
std::vector<std::uint8_t> core_rows(const InverseMap& inverse, std::int64_t n_core, int n_threads) {
  std::vector<std::uint8_t> is_core(at(inverse.n_rows));
  const std::int64_t first_behind = n_core * inverse.n_occurrences;
  std::visit(
      [&](const auto& entries) {
        parallel_for(n_threads, inverse.n_rows, [&](std::int64_t begin, std::int64_t end, int) {
          for (std::int64_t row = begin; row < end; ++row) {
            is_core[at(row)] = std::all_of(entries.begin() + inverse.offset[at(row)],
                                           entries.begin() + inverse.offset[at(row + 1)],
                                           [&](auto entry) { return entry < first_behind; });
          }
        });
      },
      inverse.entries);
  return is_core;
}

/// The rows of @p order, one after the other.
template <class Entry>
std::vector<Entry> entries_in_order(const InverseMap& inverse, const std::vector<Entry>& entries,
                                    const std::vector<std::int64_t>& order,
                                    const std::vector<std::int64_t>& offset, int n_threads) {
  std::vector<Entry> out(entries.size());
  parallel_for(n_threads, inverse.n_rows, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::copy(entries.begin() + inverse.offset[at(order[at(i)])],
                entries.begin() + inverse.offset[at(order[at(i)] + 1)],
                out.begin() + offset[at(i)]);
    }
  });
  return out;
}

/// Rows without an element at the boundary first; otherwise they stay in order.
void put_core_first(InverseMap& inverse, std::int64_t n_core, int n_threads) {
  const std::vector<std::uint8_t> is_core = core_rows(inverse, n_core, n_threads);
  std::vector<std::int64_t> order(at(inverse.n_rows));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto rest = std::stable_partition(
      order.begin(), order.end(), [&is_core](std::int64_t row) { return is_core[at(row)] != 0; });
  inverse.n_core_rows = rest - order.begin();
  std::vector<std::int64_t> offset(inverse.offset.size(), 0);
  for (std::int64_t i = 0; i < inverse.n_rows; ++i) {
    const std::int64_t row = order[at(i)];
    offset[at(i + 1)] = offset[at(i)] + inverse.offset[at(row + 1)] - inverse.offset[at(row)];
  }
  std::visit(
      [&](auto& entries) {
        entries = entries_in_order(inverse, entries, order, offset, n_threads);
      },
      inverse.entries);
  inverse.offset = std::move(offset);
  const IndexArray listed = std::move(inverse.rows);
  inverse.rows = make_index_array(inverse.n_rows, inverse.n_targets);
  const auto target_of = [&](std::int64_t row) {
    if (!inverse.lists_rows) return row;
    return std::visit([row](const auto& rows) { return std::int64_t{rows[at(row)]}; }, listed);
  };
  std::visit(
      [&](auto& rows) {
        using Index = typename std::decay_t<decltype(rows)>::value_type;
        std::transform(order.begin(), order.end(), rows.begin(),
                       [&](std::int64_t row) { return static_cast<Index>(target_of(row)); });
      },
      inverse.rows);
  inverse.lists_rows = true;
}

std::int64_t longest_row(const std::vector<std::int64_t>& offset, int n_threads) {
  std::vector<std::int64_t> longest(static_cast<std::size_t>(std::max(n_threads, 1)), 0);
  const auto n_rows = static_cast<std::int64_t>(offset.size()) - 1;
  parallel_for(n_threads, n_rows,
               [&offset, &longest](std::int64_t begin, std::int64_t end, int chunk) {
                 std::int64_t found = 0;
                 for (std::int64_t row = begin; row < end; ++row) {
                   const auto r = static_cast<std::size_t>(row);
                   found = std::max(found, offset[r + 1] - offset[r]);
                 }
                 longest[static_cast<std::size_t>(chunk)] = found;
               });
  return *std::max_element(longest.begin(), longest.end());
}

template <class Entry>
void fill_columns(const InverseMap& inverse, const std::vector<Entry>& entries,
                  std::vector<Entry>& columns, int n_threads) {
  const auto fill = [&inverse, &entries, &columns](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t first = inverse.offset[static_cast<std::size_t>(row)];
      const std::int64_t last = inverse.offset[static_cast<std::size_t>(row) + 1];
      for (std::int64_t i = first; i < last; ++i) {
        columns[static_cast<std::size_t>((i - first) * inverse.n_rows + row)] =
            entries[static_cast<std::size_t>(i)];
      }
    }
  };
  parallel_for(n_threads, inverse.n_rows, fill);
}

}  // namespace

std::int64_t InverseSpec::n_targets() const {
  const std::int64_t n_all = occurrences.front().map->n_targets();
  return n_first < 0 ? n_all : std::min(n_first, n_all);
}

double InverseMap::degree_mean() const {
  return n_rows == 0 ? 0.0 : static_cast<double>(n_entries()) / static_cast<double>(n_rows);
}

std::int64_t InverseMap::bytes() const {
  return bytes_of(rows) + bytes_of(offset) + bytes_of(entries);
}

std::int64_t PaddedInverse::bytes() const {
  return bytes_of(rows) + bytes_of(columns);
}

InverseMap invert(const InverseSpec& spec, int n_threads) {
  check_occurrences(spec, n_threads);
  InverseMap inverse;
  inverse.n_targets = spec.n_targets();
  inverse.n_rows = inverse.n_targets;
  const Incidences incidences(spec);
  inverse.n_occurrences = static_cast<int>(incidences.width());
  inverse.order = spec.order;
  inverse.lists_rows = spec.touched_only;
  inverse.offset.resize(static_cast<std::size_t>(inverse.n_targets) + 1);
  const Elements& elements = spec.elements;
  const bool is_wide = elements.subset && spec.origin == EntryOrigin::element;
  const std::int64_t n_elements = is_wide ? elements.subset->n_targets() : elements.n;
  inverse.entries = make_index_array(incidences.n_most(), n_elements * inverse.n_occurrences);
  std::visit(
      [&incidences, &inverse, n_threads](auto& entries) {
        sort_incidences(incidences, inverse.n_targets, n_threads, inverse.offset, entries);
      },
      inverse.entries);
  if (spec.touched_only) drop_empty_rows(inverse);
  inverse.n_core_rows = inverse.n_rows;
  if (elements.n_boundary > 0) put_core_first(inverse, elements.n_core(), n_threads);
  inverse.degree_max = longest_row(inverse.offset, n_threads);
  return inverse;
}

std::vector<std::uint8_t> present(const InverseMap& inverse) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(inverse.n_rows));
  for (std::size_t row = 0; row < out.size(); ++row) {
    out[row] = inverse.offset[row] < inverse.offset[row + 1] ? 1 : 0;
  }
  return out;
}

PaddedInverse pad(const InverseMap& inverse, int n_threads) {
  PaddedInverse padded;
  padded.n_targets = inverse.n_targets;
  padded.n_rows = inverse.n_rows;
  padded.n_occurrences = inverse.n_occurrences;
  padded.n_core_rows = inverse.n_core_rows;
  padded.lists_rows = inverse.lists_rows;
  padded.rows = inverse.rows;
  padded.width = inverse.degree_max;
  std::visit(
      [&inverse, &padded, n_threads](const auto& entries) {
        auto columns = entries;
        columns.assign(static_cast<std::size_t>(padded.width * padded.n_rows), -1);
        fill_columns(inverse, entries, columns, n_threads);
        padded.columns = std::move(columns);
      },
      inverse.entries);
  return padded;
}

}  // namespace op2::plan
