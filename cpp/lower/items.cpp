// SPDX-License-Identifier: BSD-3-Clause
#include "lower/items.hpp"

#include <algorithm>
#include <utility>

#include "ir/kir_walk.hpp"
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
    const kir::Expr row = kir::name("row");
    declare("row", position() / visited);
    declare("n", iteration_.subset ? looked_up("subset", list_dtype(), row) : row);
    declare("level", kir::element(layers, kir::integer(1)) + (position() - row * visited));
    declare("layer", kir::element(layers, kir::integer(2)) + kir::name("level"));
    declare("n_levels", kir::element(layers, kir::integer(3)));
  }

  void add_variable_layers() {
    items_.position = "position";
    declare("n", looked_up("columns", list_dtype(), position()));
    declare("level", looked_up("levels", list_dtype(), position()));
    const std::string bounds = list("bounds", DType::int64);
    const kir::Expr two = kir::integer(2);
    const kir::Expr bottom = kir::element(bounds, kir::name("n") * two);
    const kir::Expr end = kir::element(bounds, kir::name("n") * two + kir::integer(1));
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

kir::Rows rows_of(const ir::Loop& loop, const ir::IndirectDat& dat, const std::string& data,
                  const std::string& map, const kir::Expr& element) {
  const ir::MapRef& path = loop.maps[static_cast<std::size_t>(dat.map)];
  return {dat.dtype,
          dat.dim,
          path.arity,
          data,
          map,
          element,
          targets_of(loop, dat.map, map, element),
          dat.stride,
          dat.component};
}

kir::Rows row_of(const ir::IndirectDat& dat, const std::string& data, const kir::Expr& target) {
  return one_row({dat.dtype, dat.dim, 1, data, "", target, {}, dat.stride, dat.component}, target);
}

std::vector<kir::Expr> targets_of(const ir::Loop& loop, int which, const std::string& map,
                                  const kir::Expr& element) {
  const ir::MapRef& path = loop.maps[static_cast<std::size_t>(which)];
  std::vector<kir::Expr> targets;
  const int width = path.width == 0 ? path.arity : path.width;
  for (const ir::RowRef& row : path.rows) {
    kir::Expr entry = kir::widen(map_entry(map, element, width, kir::integer(row.slot)));
    if (row.offset != 0) {
      entry = entry + levels_above(loop.iteration, row) * kir::integer(row.offset);
    }
    targets.push_back(std::move(entry));
  }
  return targets;
}

kir::Rows rows_of(const ir::DirectDat& dat, const std::string& data, const kir::Expr& element) {
  return {dat.dtype, dat.dim, 1, data, "", element, {}, dat.stride, dat.component};
}

}  // namespace op2::lower
