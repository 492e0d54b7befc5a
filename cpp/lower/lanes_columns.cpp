// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_columns.hpp"
#include "lower/make.hpp"

#include <utility>

namespace op2::lower {
namespace {

kir::Expr maximum(const kir::Expr& left, const kir::Expr& right) {
  return kir::select(kir::less(left, right), right, left);
}

}  // namespace

std::optional<ColumnLoop> column_loop(const kir::For& loop) {
  if (!loop.columns || loop.axis != kir::Axis::serial) return std::nullopt;
  ColumnLoop found{*loop.columns, false, std::nullopt, {}};
  for (const kir::Stmt& stmt : loop.body) {
    const auto* decl = std::get_if<kir::Decl>(&stmt.node);
    const std::string name = decl == nullptr ? "" : decl->name;
    if (name == found.columns.row) continue;
    if (name == found.columns.level) {
      found.has_levels = true;
    } else if (name == found.columns.element) {
      found.element = *decl;
    } else {
      found.body.push_back(stmt);
    }
  }
  return found;
}

kir::Block over_columns(const kir::For& loop, const ColumnLoop& found, const ColumnNames& names,
                        LaneElements& elements, kir::Block columns, kir::Block cells) {
  const auto declare = [&elements](kir::Block& block, const char* wanted, kir::Expr value) {
    return elements.declare(block, wanted, std::move(value));
  };
  const kir::Expr zero = kir::integer(0);
  const kir::Expr one = kir::integer(1);
  const kir::Expr row = kir::name(found.columns.row);
  const kir::Expr live = kir::name(names.live);
  kir::Block out;
  // no cell is visited where there are no facets in between: then there are no positions either
  const kir::Expr n = declare(out, "n_cells", maximum(one, found.columns.n_cells));
  const kir::Expr begin = declare(out, "first_cell", loop.begin);
  const kir::Expr end = declare(out, "end_cell", loop.end);
  // the column that the range ends in, perhaps before its first cell
  const kir::Expr open = declare(out, "open", end / n);
  const kir::Expr past =
      declare(out, "past_row", open + kir::select(kir::less(open * n, end), one, zero));
  if (found.has_levels) out.push_back(index_decl(names.bottom, found.columns.first_level));
  out.push_back({kir::Decl{{DType::int64, false, false}, names.live, 0, {zero}}});

  kir::Block each;
  const kir::Expr low = declare(each, "low", maximum(begin - row * n, zero));
  const kir::Expr high = declare(each, "high", kir::minimum(n, end - row * n));
  // those that are visited from the first cell to the last
  const kir::Expr whole =
      declare(each, "whole", kir::select(kir::less(zero, low), one, open - row));
  const kir::Expr some = declare(each, "some", maximum(whole, one));
  each.push_back(
      {kir::Assign{live, kir::Update::set, kir::minimum(kir::integer(elements.lanes()), some)}});
  for (kir::Stmt& stmt : columns) each.push_back(std::move(stmt));
  each.push_back({kir::For{kir::Axis::serial, names.step, low, high, std::move(cells)}});
  kir::For by_columns{kir::Axis::serial, found.columns.row, begin / n, past, std::move(each)};
  by_columns.step_name = names.live;
  out.push_back({std::move(by_columns)});
  return out;
}

}  // namespace op2::lower
