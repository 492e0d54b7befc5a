// SPDX-License-Identifier: BSD-3-Clause
#include "lower/items.hpp"

#include <algorithm>
#include <utility>

#include "kir/walk.hpp"
#include "lower/make.hpp"
#include "lower/rows.hpp"

namespace op2::lower {
namespace {

/// Collects parameters and declarations for one kind of iteration.
class Finder {
 public:
  Finder(const ir::Iteration& iteration, Names& names) : iteration_(iteration), names_(names) {}

  ItemLocals run() {
    if (iteration_.layers == ir::Layers::constant) {
      add_constant_layers();
    } else if (iteration_.layers == ir::Layers::variable) {
      add_variable_layers();
    } else if (iteration_.subset) {
      items_.position = "position";
      declare("n", looked_up("subset", list_dtype(), position()));
    }
    return std::move(items_);
  }

 private:
  [[nodiscard]] kir::Expr position() const { return kir::name(items_.position); }

  [[nodiscard]] DType list_dtype() const { return index_dtype(iteration_.index_bytes); }

  std::string list(const std::string& wanted, DType dtype) {
    const std::string name = names_.take(wanted);
    const int index = static_cast<int>(items_.parameters.size());
    items_.parameters.push_back({name, {dtype, true, true}, true, kir::Role::items, index});
    return name;
  }

  kir::Expr looked_up(const std::string& wanted, DType dtype, const kir::Expr& at) {
    return kir::widen(kir::element(list(wanted, dtype), at));
  }

  void declare(const std::string& name, kir::Expr value) {
    items_.declarations.push_back(index_decl(name, std::move(value)));
  }

  void add_constant_layers() {
    items_.position = "position";
    const std::string layers = list("layers", DType::int64);
    const kir::Expr visited = kir::element(layers, kir::integer(0));
    const kir::Expr first_level = kir::element(layers, kir::integer(1));
    const kir::Expr row = kir::name("row");
    declare("row", position() / visited);
    declare("n", iteration_.subset ? looked_up("subset", list_dtype(), row) : row);
    declare("level", first_level + (position() - row * visited));
    items_.columns = {visited, first_level, "row", "level", "n"};
    declare("layer", kir::element(layers, kir::integer(2)) + kir::name("level"));
    declare("n_levels", kir::element(layers, kir::integer(3)));
  }

  void add_variable_layers() {
    items_.position = "position";
    declare("n", looked_up("columns", list_dtype(), position()));
    declare("level", looked_up("levels", list_dtype(), position()));
    const std::string bounds = list("bounds", DType::int64);
    const kir::Expr two = kir::integer(2);
    const kir::Expr bottom = kir::element(bounds, own_element() * two);
    const kir::Expr end = kir::element(bounds, own_element() * two + kir::integer(1));
    declare("layer", bottom + kir::name("level"));
    declare("n_levels", end - bottom);
  }

  const ir::Iteration& iteration_;
  Names& names_;
  ItemLocals items_;
};

/// Levels from the Map's own entry up to the one of this item.
kir::Expr levels_above(const ir::Iteration& iteration, const ir::RowRef& row) {
  const kir::Expr level = kir::name("level") + kir::integer(row.above);
  if (!iteration.periodic) return level;
  const kir::Expr n_levels = kir::name("n_levels");
  const kir::Expr start = kir::integer(row.quotient);
  const kir::Expr wrapped = (level + start) % n_levels;
  return row.quotient == 0 ? wrapped : wrapped - start % n_levels;
}

/// How far that takes the row.
kir::Expr rise_of(const ir::Iteration& iteration, const ir::RowRef& row) {
  if (row.offset == 0) return kir::integer(0);
  return levels_above(iteration, row) * kir::integer(row.offset);
}

/// The rows of a path for one element.
class PathRows {
 public:
  PathRows(const ir::Iteration& iteration, const ir::MapRef& path, const std::string& map,
           const kir::Expr& element)
      : iteration_(iteration), path_(path), map_(map), element_(element) {}

  [[nodiscard]] std::vector<kir::Expr> entries() const {
    std::vector<kir::Expr> out;
    for (const ir::RowRef& row : path_.rows) out.push_back(at(kir::integer(row.slot), row));
    return out;
  }

  /// One expression of `i` for all of them: the Map's entries in their order, equally far above.
  [[nodiscard]] std::optional<kir::Expr> any_entry() const {
    if (path_.rows.size() == 1) return entries().front();
    const kir::Expr rise = rise_of(iteration_, path_.rows.front());
    int slot = 0;
    for (const ir::RowRef& row : path_.rows) {
      if (row.slot != slot++ || rise_of(iteration_, row) != rise) return std::nullopt;
    }
    return at(kir::name("i"), path_.rows.front());
  }

  [[nodiscard]] std::optional<std::vector<std::int64_t>> climbs() const {
    if (iteration_.layers == ir::Layers::none) return std::nullopt;
    std::vector<std::int64_t> out;
    for (const ir::RowRef& row : path_.rows) {
      if (row.offset != 0 && iteration_.periodic) return std::nullopt;  // levels count round
      out.push_back(row.offset);
    }
    return out;
  }

 private:
  [[nodiscard]] kir::Expr at(const kir::Expr& slot, const ir::RowRef& row) const {
    const int width = path_.width == 0 ? path_.arity : path_.width;
    return kir::widen(map_entry(map_, element_, width, slot)) + rise_of(iteration_, row);
  }

  const ir::Iteration& iteration_;
  const ir::MapRef& path_;
  const std::string& map_;
  const kir::Expr& element_;
};

kir::Together row_layout(const auto& dat) {
  return {dat.stride == 0 ? dat.dim : dat.stride};
}

/// @p rows in memory that holds what the Dat's does.
kir::Rows stored_as(const auto& dat, kir::Rows rows) {
  rows.stored = dat.stored;
  return rows;
}

}  // namespace

ItemLocals item_locals(const ir::Iteration& iteration, Names& names) {
  return Finder(iteration, names).run();
}

kir::Block located(const ItemLocals& items, kir::Block body) {
  for (auto it = items.declarations.rbegin(); it != items.declarations.rend(); ++it) {
    const auto& decl = std::get<kir::Decl>(it->node);
    if (kir::names_used(body).contains(decl.name)) body.insert(body.begin(), *it);
  }
  return body;
}

kir::For over_positions(const ItemLocals& items, kir::Axis axis, kir::Expr begin, kir::Expr end,
                        kir::Block body) {
  kir::For loop{axis, items.position, std::move(begin), std::move(end), std::move(body)};
  const bool asks_for_columns = std::ranges::any_of(loop.body, [&items](const kir::Stmt& stmt) {
    const auto* decl = std::get_if<kir::Decl>(&stmt.node);
    return items.columns && decl != nullptr && decl->name == items.columns->row;
  });
  if (asks_for_columns) loop.columns = items.columns;
  return loop;
}

kir::Rows rows_of(const ir::Loop& loop, const ir::IndirectDat& dat, const std::string& data,
                  const std::string& map, const kir::Expr& element) {
  const ir::MapRef& path = loop.maps[static_cast<std::size_t>(dat.map)];
  const PathRows rows(loop.iteration, path, map, element);
  if (path.rows.empty()) {
    return stored_as(dat,
                     {dat.dtype, dat.dim, path.arity, data, kir::MapRows{map, element, path.ragged},
                      row_layout(dat), dat.component});
  }
  return stored_as(dat, {dat.dtype, dat.dim, path.arity, data,
                         kir::ListedRows{rows.entries(), rows.any_entry(), rows.climbs(), map},
                         row_layout(dat), dat.component});
}

kir::Rows row_of(const ir::IndirectDat& dat, const std::string& data, const kir::Expr& target) {
  return one_row(stored_as(dat, {dat.dtype, dat.dim, 1, data, kir::OwnRow{target}, row_layout(dat),
                                 dat.component}),
                 target);
}

std::vector<kir::Expr> targets_of(const ir::Loop& loop, int which, const std::string& map,
                                  const kir::Expr& element) {
  const ir::MapRef& path = loop.maps[static_cast<std::size_t>(which)];
  return PathRows(loop.iteration, path, map, element).entries();
}

kir::Rows rows_of(const ir::DirectDat& dat, const std::string& data, const kir::Expr& element) {
  return stored_as(
      dat, {dat.dtype, dat.dim, 1, data, kir::OwnRow{element}, row_layout(dat), dat.component});
}

}  // namespace op2::lower
