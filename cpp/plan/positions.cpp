// SPDX-License-Identifier: BSD-3-Clause
#include "plan/positions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "base/parallel.hpp"
#include "plan/inverse.hpp"

namespace op2::plan {
namespace {

void check_mask(const MapPointer& mask, std::int64_t n, std::string_view what) {
  if (mask && mask->n_rows() != n) {
    throw UsageError(
        fmt::format("matrix: the local-to-global map of the {} has {} entries, "
                    "expected {}",
                    what, mask->n_rows(), n));
  }
}

void check_positions(const PositionSpec& spec) {
  const Sparsity& sparsity = *spec.sparsity;
  if (spec.rows->n_targets() != sparsity.n_rows ||
      spec.columns->n_targets() != sparsity.n_columns) {
    throw UsageError("matrix: the maps do not lead to its rows and columns");
  }
  if (spec.bytes < position_bytes(sparsity.longest_row)) {
    throw UsageError(fmt::format("matrix: a row of {} entries needs wider positions than {} bytes",
                                 sparsity.longest_row, spec.bytes));
  }
  check_mask(spec.row_mask, sparsity.n_rows * spec.row_dim, "rows");
  check_mask(spec.column_mask, sparsity.n_columns * spec.column_dim, "columns");
}

bool is_masked(const MapPointer& mask, std::int64_t target, int dim, int component) {
  return mask && mask->at(target * dim + component, 0) < 0;
}

[[noreturn]] void no_place(std::int64_t element, std::int64_t row, std::int64_t column) {
  throw UsageError(fmt::format(
      "matrix: element {} couples row {} with column {}, for which the Sparsity has no place; the "
      "values of a Map were changed after it was built: build a new one",
      element, row, column));
}

std::int64_t element_at(const PositionSpec& spec, std::int64_t position) {
  return spec.elements.subset ? spec.elements.subset->at(position, 0) : position;
}

/// Where the positions of each element begin.
class Begins {
 public:
  explicit Begins(const PositionSpec& spec) {
    const std::int64_t scalars = std::int64_t{spec.row_dim} * spec.column_dim;
    if (!spec.rows->is_ragged() && !spec.columns->is_ragged()) {
      size_ = std::int64_t{spec.rows->arity()} * spec.columns->arity() * scalars;
      return;
    }
    values_.push_back(0);
    for (std::int64_t position = 0; position < spec.elements.n; ++position) {
      const std::int64_t element = element_at(spec, position);
      const std::int64_t blocks = spec.rows->n_entries(element) * spec.columns->n_entries(element);
      values_.push_back(values_.back() + blocks * scalars);
    }
  }

  [[nodiscard]] std::int64_t at(std::int64_t position) const {
    return values_.empty() ? position * size_ : values_[static_cast<std::size_t>(position)];
  }

  /// Nothing where all elements have as many.
  [[nodiscard]] std::vector<std::int64_t> take() && { return std::move(values_); }

 private:
  std::int64_t size_ = 0;  // of an element, where all are of one
  std::vector<std::int64_t> values_;
};

/// Row by row, so that nothing is searched: the positions of a row's columns are written down in an
/// array over all columns, and looked up there by each element that adds to the row.
template <class Column, class Position>
class Finder {
 public:
  Finder(const PositionSpec& spec, const Begins& begins, const std::vector<Column>& columns,
         Position* values)
      : spec_(spec),
        begins_(begins),
        offset_(spec.sparsity->row_offset),
        columns_(columns),
        values_(values),
        place_(static_cast<std::size_t>(spec.sparsity->n_columns), Position{0}) {}

  /// Positions of all incidences of the rows [begin, end).
  template <class ColumnIndex, class Entry>
  void find(const InverseMap& inverse, const std::vector<Entry>& entries,
            const ColumnIndex* column_of, std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const auto r = static_cast<std::size_t>(row);
      const std::int64_t first = offset_[r];
      const std::int64_t length = offset_[r + 1] - first;
      const Column* there = columns_.data() + first;
      for (std::int64_t k = 0; k < length; ++k) {
        place_[static_cast<std::size_t>(there[k])] = static_cast<Position>(k);
      }
      for (std::int64_t k = inverse.offset[r]; k < inverse.offset[r + 1]; ++k) {
        const std::int64_t entry = entries[static_cast<std::size_t>(k)];
        const std::int64_t position = entry / inverse.n_occurrences;
        const std::int64_t slot = entry - position * inverse.n_occurrences;
        const std::int64_t element = element_at(spec_, position);
        const std::int64_t n = spec_.columns->n_entries(element);
        width_ = n * spec_.column_dim;
        Position* out = values_ + begins_.at(position) + slot * spec_.row_dim * width_;
        const ColumnIndex* wanted = column_of + spec_.columns->begin(element);
        for (std::int64_t j = 0; j < n; ++j) {
          const std::int64_t column = wanted[j];
          if (column < 0) continue;
          const std::int64_t place = column < spec_.sparsity->n_columns
                                         ? place_[static_cast<std::size_t>(column)]
                                         : length;
          // what an earlier row left behind is another column's
          if (place >= length || there[place] != column) no_place(element, row, column);
          put(out, row, column, j, static_cast<Position>(place));
        }
      }
    }
  }

 private:
  void put(Position* out, std::int64_t row, std::int64_t column, std::int64_t j,
           Position place) const {
    if (spec_.row_dim * spec_.column_dim == 1 && !spec_.row_mask && !spec_.column_mask) {
      out[j] = place;
      return;
    }
    for (int r = 0; r < spec_.row_dim; ++r) {
      if (is_masked(spec_.row_mask, row, spec_.row_dim, r)) continue;
      for (int c = 0; c < spec_.column_dim; ++c) {
        if (is_masked(spec_.column_mask, column, spec_.column_dim, c)) continue;
        out[r * width_ + j * spec_.column_dim + c] = place;
      }
    }
  }

  const PositionSpec& spec_;
  const Begins& begins_;
  const std::vector<std::int64_t>& offset_;
  const std::vector<Column>& columns_;
  Position* values_;             // from begins.at(element) on those of the element
  std::int64_t width_ = 0;       // positions of one scalar row of the element at hand
  std::vector<Position> place_;  // [n_columns] of those of the row at hand
};

InverseMap incidences(const PositionSpec& spec, int n_threads) {
  InverseSpec inverse;
  inverse.elements = spec.elements;
  inverse.origin = EntryOrigin::position;
  inverse.occurrences = {{spec.rows, all_slots}};
  return invert(inverse, n_threads);
}

template <class Column, class Position>
std::vector<Position> find_all(const PositionSpec& spec, const Begins& begins,
                               const std::vector<Column>& columns, int n_threads) {
  std::vector<Position> values(static_cast<std::size_t>(begins.at(spec.elements.n)),
                               dropped<Position>);
  const InverseMap inverse = incidences(spec, n_threads);
  const void* column_of = spec.columns->values();
  const bool is_narrow = spec.columns->index_bytes() == 4;
  const auto find = [&](std::int64_t begin, std::int64_t end, int) {
    Finder<Column, Position> finder(spec, begins, columns, values.data());
    std::visit(
        [&](const auto& entries) {
          if (is_narrow) {
            const auto* narrow = static_cast<const std::int32_t*>(column_of);
            finder.find(inverse, entries, narrow, begin, end);
          } else {
            const auto* wide = static_cast<const std::int64_t*>(column_of);
            finder.find(inverse, entries, wide, begin, end);
          }
        },
        inverse.entries);
  };
  parallel_for(n_threads, spec.sparsity->n_rows, find, 512);
  return values;
}

template <class Column>
PositionArray find_as_wide(const PositionSpec& spec, const Begins& begins,
                           const std::vector<Column>& columns, int n_threads) {
  switch (spec.bytes) {
    case 1:
      return find_all<Column, std::uint8_t>(spec, begins, columns, n_threads);
    case 2:
      return find_all<Column, std::uint16_t>(spec, begins, columns, n_threads);
    default:
      return find_all<Column, std::int32_t>(spec, begins, columns, n_threads);
  }
}

}  // namespace

int position_bytes(std::int64_t longest_row) {
  if (longest_row <= dropped<std::uint8_t>) return 1;
  return longest_row <= dropped<std::uint16_t> ? 2 : 4;
}

std::int64_t Positions::bytes() const {
  return std::visit([](const auto& found) { return bytes_of(found); }, values) + bytes_of(begins);
}

Positions find_positions(const PositionSpec& spec, int n_threads) {
  check_elements(spec.elements, {spec.rows, spec.columns}, n_threads);
  check_positions(spec);
  Begins begins(spec);
  PositionArray values = std::visit(
      [&](const auto& columns) { return find_as_wide(spec, begins, columns, n_threads); },
      spec.sparsity->columns);
  return {std::move(values), std::move(begins).take()};
}

}  // namespace op2::plan
