// SPDX-License-Identifier: BSD-3-Clause
#include "plan/sparsity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "mesh/map_facts.hpp"
#include "plan/inverse.hpp"

namespace op2::plan {
namespace {

void check_map(const MapPointer& map, std::int64_t n_elements, std::int64_t n_targets,
               std::string_view what, int n_threads) {
  if (n_elements > map->n_rows()) {
    throw UsageError(fmt::format("sparsity: {} elements, but the map to {} has {}", n_elements,
                                 what, map->n_rows()));
  }
  if (map->n_targets() != n_targets) {
    throw UsageError(fmt::format("sparsity: a map leads to {} {}, but there are {}",
                                 map->n_targets(), what, n_targets));
  }
  mesh::check_range(*map, what, true, n_threads);
}

void check_sparsity(const SparsitySpec& spec, int n_threads) {
  if (spec.n_rows < 0 || spec.n_columns < 0) throw UsageError("sparsity: negative size");
  for (const MapPair& pair : spec.pairs) {
    check_map(pair.rows, pair.n_elements, spec.n_rows, "rows", n_threads);
    check_map(pair.columns, pair.n_elements, spec.n_columns, "columns", n_threads);
  }
}

/// The elements of each row, and the columns that each of them names.
struct Source {
  InverseMap elements;  // of the row map
  MapPointer columns;
};

std::vector<Source> sources_of(const SparsitySpec& spec, int n_threads) {
  std::vector<Source> sources;
  for (const MapPair& pair : spec.pairs) {
    InverseSpec inverse;
    inverse.elements.n = pair.n_elements;
    inverse.occurrences = {{pair.rows, all_slots}};
    sources.push_back({invert(inverse, n_threads), pair.columns});
  }
  return sources;
}

/// The columns of a range of rows, one row after the other, and what it needs to find them.
template <class Column>
class Merger {
 public:
  explicit Merger(std::int64_t n_columns)
      : seen_(static_cast<std::size_t>(n_columns), std::int64_t{-1}) {}

  /// Append the columns of @p row, ascending. Returns how many there are.
  std::int64_t add_row(std::int64_t row, const std::vector<Source>& sources, bool diagonal) {
    const std::size_t begin = found_.size();
    if (diagonal) add_column(row, row);
    for (const Source& source : sources) {
      std::visit(
          [this, row, &source](const auto& entries) {
            if (source.columns->index_bytes() == 4) {
              this->template add_elements<std::int32_t>(row, source, entries);
            } else {
              this->template add_elements<std::int64_t>(row, source, entries);
            }
          },
          source.elements.entries);
    }
    std::sort(found_.begin() + static_cast<std::ptrdiff_t>(begin), found_.end());
    return static_cast<std::int64_t>(found_.size() - begin);
  }

  [[nodiscard]] std::vector<Column> take() { return std::move(found_); }

 private:
  template <class Index, class Entry>
  void add_elements(std::int64_t row, const Source& source, const std::vector<Entry>& entries) {
    const auto r = static_cast<std::size_t>(row);
    const mesh::MapTable& map = *source.columns;
    const auto* columns = static_cast<const Index*>(map.values());
    const std::int64_t slots = source.elements.n_occurrences;
    for (std::int64_t k = source.elements.offset[r]; k < source.elements.offset[r + 1]; ++k) {
      const std::int64_t element = entries[static_cast<std::size_t>(k)] / slots;
      const std::int64_t end = map.begin(element + 1);
      for (std::int64_t place = map.begin(element); place < end; ++place) {
        if (columns[place] >= 0) add_column(row, columns[place]);
      }
    }
  }

  void add_column(std::int64_t row, std::int64_t column) {
    std::int64_t& last = seen_[static_cast<std::size_t>(column)];
    if (last == row) return;
    last = row;
    found_.push_back(static_cast<Column>(column));
  }

  std::vector<std::int64_t> seen_;  // [n_columns] the last row that has this column
  std::vector<Column> found_;
};

template <class Column>
void merge(const SparsitySpec& spec, const std::vector<Source>& sources, Sparsity& sparsity,
           int n_threads) {
  struct Part {
    std::int64_t begin = 0;
    std::int64_t longest = 0;
    std::vector<Column> found;
  };
  std::vector<Part> parts(static_cast<std::size_t>(std::max(n_threads, 1)));
  const auto find = [&spec, &sources, &sparsity, &parts](std::int64_t begin, std::int64_t end,
                                                         int chunk) {
    Merger<Column> merger(spec.n_columns);
    Part& part = parts[static_cast<std::size_t>(chunk)];
    for (std::int64_t row = begin; row < end; ++row) {
      const bool diagonal = spec.diagonal && row < spec.n_columns;
      const std::int64_t length = merger.add_row(row, sources, diagonal);
      sparsity.row_offset[static_cast<std::size_t>(row) + 1] = length;
      part.longest = std::max(part.longest, length);
    }
    part.begin = begin;
    part.found = merger.take();
  };
  parallel_for(n_threads, spec.n_rows, find);

  for (std::size_t row = 0; row < static_cast<std::size_t>(spec.n_rows); ++row) {
    sparsity.row_offset[row + 1] += sparsity.row_offset[row];
  }
  std::vector<Column> columns(static_cast<std::size_t>(sparsity.row_offset.back()));
  const auto collect = [&parts, &sparsity, &columns](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t chunk = begin; chunk < end; ++chunk) {
      const Part& part = parts[static_cast<std::size_t>(chunk)];
      const std::int64_t at = sparsity.row_offset[static_cast<std::size_t>(part.begin)];
      std::copy(part.found.begin(), part.found.end(), columns.begin() + at);
    }
  };
  parallel_for(n_threads, static_cast<std::int64_t>(parts.size()), collect, 1);
  for (const Part& part : parts) {
    sparsity.longest_row = std::max(sparsity.longest_row, part.longest);
  }
  sparsity.columns = std::move(columns);
}

}  // namespace

Sparsity build_sparsity(const SparsitySpec& spec, int n_threads) {
  check_sparsity(spec, n_threads);
  Sparsity sparsity;
  sparsity.n_rows = spec.n_rows;
  sparsity.n_columns = spec.n_columns;
  sparsity.row_offset.assign(static_cast<std::size_t>(spec.n_rows) + 1, 0);
  const std::vector<Source> sources = sources_of(spec, n_threads);
  if (fits_int32(spec.n_columns)) {
    merge<std::int32_t>(spec, sources, sparsity, n_threads);
  } else {
    merge<std::int64_t>(spec, sources, sparsity, n_threads);
  }
  return sparsity;
}

}  // namespace op2::plan
