// SPDX-License-Identifier: BSD-3-Clause
#include "plan/positions.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "base/parallel.hpp"

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

void check(const PositionSpec& spec) {
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

/// Finds columns in the rows of one sparsity.
template <class Column>
class Search {
 public:
  Search(const Sparsity& sparsity, const std::vector<Column>& columns)
      : offset_(sparsity.row_offset), columns_(columns) {}

  /// Position of @p column in @p row, or -1.
  [[nodiscard]] std::int64_t find(std::int64_t row, std::int64_t column) const {
    const auto r = static_cast<std::size_t>(row);
    const auto begin = columns_.begin() + offset_[r];
    const auto end = columns_.begin() + offset_[r + 1];
    const auto found = std::lower_bound(begin, end, static_cast<Column>(column));
    return found == end || *found != column ? -1 : found - begin;
  }

 private:
  const std::vector<std::int64_t>& offset_;
  const std::vector<Column>& columns_;
};

bool is_masked(const MapPointer& mask, std::int64_t target, int dim, int component) {
  return mask && mask->at(target * dim + component, 0) < 0;
}

[[noreturn]] void no_place(std::int64_t element, std::int64_t row, std::int64_t column) {
  throw UsageError(fmt::format(
      "matrix: element {} couples row {} with column {}, for which the Sparsity has no place; the "
      "values of a Map were changed after it was built: build a new one",
      element, row, column));
}

/// Fill the positions of one element.
template <class Column, class Position>
void find_element(const PositionSpec& spec, const Search<Column>& search, std::int64_t element,
                  Position* out) {
  const std::int64_t width = std::int64_t{spec.columns->arity()} * spec.column_dim;
  for (int i = 0; i < spec.rows->arity(); ++i) {
    const std::int64_t row = spec.rows->at(element, i);
    for (int j = 0; j < spec.columns->arity(); ++j) {
      const std::int64_t column = spec.columns->at(element, j);
      const bool is_there = row >= 0 && column >= 0;
      const std::int64_t place = is_there ? search.find(row, column) : 0;
      if (place < 0) no_place(element, row, column);
      for (int r = 0; r < spec.row_dim; ++r) {
        const bool row_dropped = !is_there || is_masked(spec.row_mask, row, spec.row_dim, r);
        for (int c = 0; c < spec.column_dim; ++c) {
          const bool drop = row_dropped || is_masked(spec.column_mask, column, spec.column_dim, c);
          out[(i * spec.row_dim + r) * width + j * spec.column_dim + c] =
              drop ? dropped<Position> : static_cast<Position>(place);
        }
      }
    }
  }
}

template <class Column, class Position>
std::vector<Position> find_all(const PositionSpec& spec, const std::vector<Column>& columns,
                               int n_threads) {
  const Search<Column> search(*spec.sparsity, columns);
  const std::int64_t size =
      std::int64_t{spec.rows->arity()} * spec.row_dim * spec.columns->arity() * spec.column_dim;
  std::vector<Position> values(static_cast<std::size_t>(spec.elements.n * size));
  const auto find = [&spec, &search, &values, size](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t element = spec.elements.subset ? spec.elements.subset->at(k, 0) : k;
      find_element(spec, search, element, values.data() + k * size);
    }
  };
  parallel_for(n_threads, spec.elements.n, find, 512);
  return values;
}

template <class Column>
PositionArray find_as_wide(const PositionSpec& spec, const std::vector<Column>& columns,
                           int n_threads) {
  switch (spec.bytes) {
    case 1:
      return find_all<Column, std::uint8_t>(spec, columns, n_threads);
    case 2:
      return find_all<Column, std::uint16_t>(spec, columns, n_threads);
    default:
      return find_all<Column, std::int32_t>(spec, columns, n_threads);
  }
}

}  // namespace

int position_bytes(std::int64_t longest_row) {
  if (longest_row <= dropped<std::uint8_t>) return 1;
  return longest_row <= dropped<std::uint16_t> ? 2 : 4;
}

std::int64_t Positions::bytes() const {
  return std::visit([](const auto& found) { return bytes_of(found); }, values);
}

Positions find_positions(const PositionSpec& spec, int n_threads) {
  check_elements(spec.elements, {spec.rows, spec.columns}, n_threads);
  check(spec);
  return {std::visit(
      [&spec, n_threads](const auto& columns) { return find_as_wide(spec, columns, n_threads); },
      spec.sparsity->columns)};
}

}  // namespace op2::plan
