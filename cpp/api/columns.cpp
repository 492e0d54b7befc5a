// SPDX-License-Identifier: BSD-3-Clause
#include "api/columns.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

#include "api/object_states.hpp"
#include "api/op2.hpp"
#include "base/error.hpp"

namespace op2::api {
namespace {

constexpr std::int64_t most_int32 = std::numeric_limits<std::int32_t>::max();

/// Some of the cells of one column.
struct Levels {
  std::int64_t n;
  std::int64_t first;
};

Levels levels_of(const Extrusion& columns, std::int64_t n_cells, Region region) {
  const std::int64_t one = n_cells > 0 ? 1 : 0;  // a column may have no cells
  switch (region) {
    case Region::bottom:
      return {one, 0};
    case Region::top:
      return {one, n_cells - one};
    case Region::interior_facets:
      return {columns.is_periodic ? n_cells : n_cells - one, 0};
    case Region::all:
      break;
  }
  return {n_cells, 0};
}

std::int64_t n_cells_of(const Extrusion& columns, std::int64_t column) {
  const auto at = static_cast<std::size_t>(columns.is_constant ? 0 : 2 * column);
  return columns.layers[at + 1] - columns.layers[at] - 1;
}

std::int64_t column_at(const Visited& visited, std::int64_t i) {
  return visited.part == nullptr ? i : visited.part->table->at(i, 0);
}

template <class Index>
void add_table(Cells& cells, const std::vector<Index>& values, int arity) {
  cells.tables.push_back(std::make_shared<mesh::MapTable>(
      values.data(), static_cast<int>(sizeof(Index)),
      static_cast<std::int64_t>(values.size()) / arity, arity, most_int32));
}

void list_constant(Cells& cells, const Visited& visited) {
  const Extrusion& columns = *visited.whole->extrusion;
  const std::int64_t n_cells = n_cells_of(columns, 0);
  const Levels levels = levels_of(columns, n_cells, visited.region);
  cells.n = visited.n_entities() * levels.n;
  cells.wide = {{levels.n, levels.first, columns.layers[0], n_cells}};
  add_table(cells, cells.wide.back(), 4);
  if (visited.part != nullptr) cells.tables.push_back(visited.part->table);
}

template <class Index>
void list_variable(Cells& cells, std::vector<std::vector<Index>>& lists, const Visited& visited) {
  const Extrusion& columns = *visited.whole->extrusion;
  std::vector<Index> of_column;
  std::vector<Index> of_level;
  for (std::int64_t i = 0; i < visited.n_entities(); ++i) {
    const std::int64_t column = column_at(visited, i);
    const Levels levels = levels_of(columns, n_cells_of(columns, column), visited.region);
    for (std::int64_t level = levels.first; level < levels.first + levels.n; ++level) {
      of_column.push_back(static_cast<Index>(column));
      of_level.push_back(static_cast<Index>(level));
    }
  }
  cells.n = static_cast<std::int64_t>(of_column.size());
  lists = {std::move(of_column), std::move(of_level)};
  for (const std::vector<Index>& list : lists) add_table(cells, list, 1);
  std::vector<std::int64_t> bounds = columns.layers;
  for (std::size_t at = 1; at < bounds.size(); at += 2) --bounds[at];  // one past the top cell
  cells.wide.push_back(std::move(bounds));
  add_table(cells, cells.wide.back(), 2);
}

void check_counts(const SetState& set) {
  if (set.size <= most_int32) return;
  throw UsageError(
      fmt::format("ExtrudedSet '{}': its {} columns are more than the 4 bytes count that code was "
                  "generated for; generate it from a program with as many",
                  set.name, set.size));
}

template <class Index>
std::shared_ptr<mesh::MapTable> numbered(std::vector<Index>& values, const SetState& base) {
  values.resize(static_cast<std::size_t>(base.size));
  std::iota(values.begin(), values.end(), Index{0});
  return std::make_shared<mesh::MapTable>(values.data(), static_cast<int>(sizeof(Index)), base.size,
                                          1, base.size);
}

std::string shown(const std::vector<int>& offsets) {
  return offsets.empty() ? "no offset" : fmt::format("offset [{}]", fmt::join(offsets, ", "));
}

int entry_of(const std::vector<int>& values, int slot) {
  return values.empty() ? 0 : values.at(static_cast<std::size_t>(slot));
}

}  // namespace

Visited::Visited(const Set& set, Region cells) : whole(set.state()), region(cells) {}

Visited::Visited(const Subset& subset, Region cells)
    : whole(subset.state()->whole), part(subset.state()), region(cells) {}

Visited::Visited(SetPointer set, Region cells) : whole(std::move(set)), region(cells) {}

bool Visited::is_extruded() const {
  return whole->extrusion != nullptr;
}

const SetPointer& Visited::base() const {
  return is_extruded() ? whole->extrusion->base : whole;
}

std::int64_t Visited::n_entities() const {
  return part == nullptr ? whole->size : part->table->n_rows();
}

std::int64_t Visited::n_items() const {
  if (!is_extruded()) return n_entities();
  const Extrusion& columns = *whole->extrusion;
  if (columns.is_constant) {
    return n_entities() * levels_of(columns, n_cells_of(columns, 0), region).n;
  }
  std::int64_t n = 0;
  for (std::int64_t i = 0; i < n_entities(); ++i) {
    n += levels_of(columns, n_cells_of(columns, column_at(*this, i)), region).n;
  }
  return n;
}

std::shared_ptr<const Cells> cells_of(const Visited& visited, int index_bytes) {
  const Extrusion& columns = *visited.whole->extrusion;
  CellLists& lists = visited.part == nullptr ? *visited.whole->lists : *visited.part->lists;
  const std::lock_guard lock(lists.mutex);
  auto& known = lists.cells[{visited.region, columns.is_constant ? 8 : index_bytes}];
  if (known) return known;
  if (!columns.is_constant && index_bytes == 4) check_counts(*visited.whole);
  const auto made = std::make_shared<Cells>();
  if (columns.is_constant) {
    list_constant(*made, visited);
  } else if (index_bytes == 4) {
    list_variable(*made, made->narrow, visited);
  } else {
    list_variable(*made, made->wide, visited);
  }
  known = made;
  return known;
}

MapPointer own_columns(const Visited& visited, int index_bytes) {
  const SetPointer& base = visited.base();
  if (index_bytes == 4) check_counts(*visited.whole);
  CellLists& lists = *visited.whole->lists;
  const std::lock_guard lock(lists.mutex);
  auto& table = index_bytes == 4 ? lists.narrow_columns.table : lists.wide_columns.table;
  if (!table) {
    table = index_bytes == 4 ? numbered(lists.narrow_columns.values, *base)
                             : numbered(lists.wide_columns.values, *base);
  }
  return std::make_shared<const MapState>(
      MapState{visited.whole, base, table, fmt::format("column_of_{}", base->name), {}});
}

void check_region(const std::string& what, const Visited& visited) {
  if (visited.is_extruded() || visited.region == Region::all) return;
  constexpr const char* names[] = {"all", "bottom", "top", "interior_facets"};
  throw UsageError(
      fmt::format("{}: region {} is a part of columns, but Set '{}' is not extruded; loop over an "
                  "ExtrudedSet",
                  what, names[static_cast<std::size_t>(visited.region)], visited.whole->name));
}

void check_offsets(const std::string& what, const MapState& map, const MapRef& path) {
  for (const RowRef& row : path.rows) {
    const int offset = entry_of(map.offset.layers, row.slot);
    const int quotient = entry_of(map.offset.quotient, row.slot);
    if (row.offset == offset && row.quotient == quotient) continue;
    throw UsageError(fmt::format(
        "{}: it was generated for a Map whose entry {} moves by {} from a layer to the next "
        "(quotient {}), but Map '{}' has {} and moves it by {} (quotient {}); pass op2::Offset "
        "with the numbers of the Map in Python",
        what, row.slot, row.offset, row.quotient, map.name, shown(map.offset.layers), offset,
        quotient));
  }
}

void check_reach(const std::string& what, const MapState& map, const Visited& visited) {
  if (!visited.is_extruded() || map.offset.layers.empty()) return;
  const Extrusion& columns = *visited.whole->extrusion;
  for (std::int64_t i = 0; i < visited.n_entities(); ++i) {
    const std::int64_t column = column_at(visited, i);
    const std::int64_t n_cells = n_cells_of(columns, column);
    if (n_cells == 0) continue;
    for (int slot = 0; slot < map.table->arity(); ++slot) {
      const std::int64_t start =
          columns.is_periodic ? entry_of(map.offset.quotient, slot) % n_cells : 0;
      for (const std::int64_t level : {-start, n_cells - 1 - start}) {
        const std::int64_t found =
            map.table->at(column, slot) + level * entry_of(map.offset.layers, slot);
        if (found >= 0 && found < map.table->n_targets()) continue;
        throw UsageError(fmt::format(
            "{}: Map '{}' leads from column {}, slot {}, to {}, but Set '{}' has entities 0 to {}; "
            "check its {}",
            what, map.name, column, slot, found, map.to->name, map.table->n_targets() - 1,
            shown(map.offset.layers)));
      }
    }
  }
}

MapRef path_of(const MapState& map, bool facets) {
  const int arity = map.table->arity();
  MapRef path{facets ? 2 * arity : arity, 0, arity, {}};
  for (int above = 0; above < (facets ? 2 : 1); ++above) {
    for (int slot = 0; slot < arity; ++slot) {
      path.rows.push_back(
          {slot, entry_of(map.offset.layers, slot), entry_of(map.offset.quotient, slot), above});
    }
  }
  return path;
}

}  // namespace op2::api
