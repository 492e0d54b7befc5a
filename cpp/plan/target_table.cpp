// SPDX-License-Identifier: BSD-3-Clause
#include "plan/target_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <type_traits>
#include <variant>

#include "base/error.hpp"
#include "base/parallel.hpp"

namespace op2::plan {
namespace {

struct Cell {
  std::int64_t column;
  std::int64_t level;
  std::int64_t n_levels;
};

Cell cell_at(const TableSpec& spec, std::int64_t position) {
  if (spec.levels) {
    const std::int64_t column = spec.columns->at(position, 0);
    return {column, spec.levels->at(position, 0),
            spec.bounds->at(column, 1) - spec.bounds->at(column, 0)};
  }
  const std::int64_t row = position / spec.n_visited;
  return {spec.columns ? spec.columns->at(row, 0) : row,
          spec.first_level + position - row * spec.n_visited, spec.n_levels};
}

std::int64_t levels_above(const TableSpec& spec, const TableRow& row, const Cell& cell) {
  const std::int64_t level = cell.level + row.above;
  if (!spec.periodic) return level;
  return (level + row.quotient) % cell.n_levels - row.quotient % cell.n_levels;
}

std::vector<TableRow> table_rows(const TableSpec& spec) {
  if (!spec.rows.empty()) return spec.rows;
  std::vector<TableRow> rows;
  for (int slot = 0; slot < spec.map->arity(); ++slot) rows.push_back({slot, 0, 0, 0});
  return rows;
}

/// Where a row of the table leads; the entry of the Map itself where that is negative, because what
/// leads nowhere does so at every level.
std::int64_t target_of(const TableSpec& spec, const TableRow& row, const Cell& cell) {
  const std::int64_t entry = spec.map->at(cell.column, row.slot);
  return entry < 0 ? entry : entry + row.offset * levels_above(spec, row, cell);
}

/// Whether a target is none of the Map's target Set, though its entry leads somewhere.
bool is_outside(const TableSpec& spec, const TableRow& row, const Cell& cell) {
  const std::int64_t target = target_of(spec, row, cell);
  return target >= spec.map->n_targets() ||
         (target < 0 && spec.map->at(cell.column, row.slot) >= 0);
}

[[noreturn]] void leads_outside(const TableSpec& spec, const std::vector<TableRow>& rows,
                                std::int64_t position) {
  const Cell cell = cell_at(spec, position);
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const TableRow& candidate) {
    return is_outside(spec, candidate, cell);
  });
  const bool moves = row->offset != 0;
  throw UsageError(
      fmt::format("plan: row {} of the Map, entry {}, leads to {}{}, but there are {} targets; {}",
                  cell.column, row->slot, target_of(spec, *row, cell),
                  moves ? fmt::format(" at level {}", cell.level) : "", spec.map->n_targets(),
                  moves ? "check the Map's offsets" : "pass changed values to Map.update_values"));
}

/// The first position of a part of the table that has an entry outside.
void note_first(std::atomic<std::int64_t>& first, std::int64_t position) {
  std::int64_t known = first;
  while (position < known && !first.compare_exchange_weak(known, position)) {
  }
}

}  // namespace

TargetTable target_table(const TableSpec& spec, int n_threads) {
  const std::vector<TableRow> rows = table_rows(spec);
  const auto arity = static_cast<std::int64_t>(rows.size());
  const std::int64_t n_targets = spec.map->n_targets();
  TargetTable table{make_index_array(spec.n * arity, n_targets), nullptr};
  std::atomic<std::int64_t> outside = spec.n;
  std::visit(
      [&](auto& values) {
        using Index = typename std::decay_t<decltype(values)>::value_type;
        parallel_for(n_threads, spec.n, [&](std::int64_t begin, std::int64_t end, int) {
          for (std::int64_t position = begin; position < end; ++position) {
            const Cell cell = cell_at(spec, position);
            for (std::int64_t i = 0; i < arity; ++i) {
              const TableRow& row = rows[static_cast<std::size_t>(i)];
              if (is_outside(spec, row, cell)) note_first(outside, position);
              values[static_cast<std::size_t>(position * arity + i)] =
                  static_cast<Index>(target_of(spec, row, cell));
            }
          }
        });
        table.map = std::make_unique<mesh::MapTable>(values.data(), static_cast<int>(sizeof(Index)),
                                                     spec.n, static_cast<int>(arity), n_targets);
      },
      table.values);
  if (outside < spec.n) leads_outside(spec, rows, outside);
  return table;
}

}  // namespace op2::plan
