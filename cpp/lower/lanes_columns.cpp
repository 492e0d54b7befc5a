// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_columns.hpp"
#include "lower/make.hpp"

#include <utility>

namespace op2::lower {
namespace {

/// Operands of `left op right`.
struct Operands {
  const kir::Expr& left;
  const kir::Expr& right;
};

std::optional<Operands> operands_of(const kir::Expr& expr, kir::BinaryOp op) {
  const auto* binary = std::get_if<kir::Binary>(&expr.node);
  if (binary == nullptr || binary->op != op) return std::nullopt;
  return Operands{binary->operands[0], binary->operands[1]};
}

const kir::Decl* declared(const kir::Stmt& stmt, const char* name) {
  const auto* decl = std::get_if<kir::Decl>(&stmt.node);
  return decl != nullptr && decl->extent == 0 && decl->name == name ? decl : nullptr;
}

kir::Expr maximum(const kir::Expr& left, const kir::Expr& right) {
  return kir::select(kir::less(left, right), right, left);
}

}  // namespace

std::optional<ColumnLoop> column_loop(const kir::For& loop) {
  std::optional<ColumnLoop> found;
  kir::Block rest;
  std::optional<kir::Expr> first_level;
  for (const kir::Stmt& stmt : loop.body) {
    if (const kir::Decl* row = declared(stmt, "row")) {
      const auto divided = operands_of(row->value.front(), kir::BinaryOp::divide);
      if (!divided || divided->left != kir::name(loop.index)) return std::nullopt;
      found = ColumnLoop{divided->right, std::nullopt, {}};
    } else if (const kir::Decl* level = declared(stmt, "level")) {
      const auto added = operands_of(level->value.front(), kir::BinaryOp::add);
      if (!added) return std::nullopt;
      first_level = added->left;
    } else {
      rest.push_back(stmt);
    }
  }
  if (!found || loop.axis != kir::Axis::serial) return std::nullopt;
  found->first_level = std::move(first_level);
  found->body = std::move(rest);
  return found;
}

kir::Block over_columns(const kir::For& loop, const ColumnLoop& found, const ColumnNames& names,
                        LaneElements& elements, kir::Block columns, kir::Block cells) {
  const auto declare = [&elements](kir::Block& block, const char* wanted, kir::Expr value) {
    return elements.declare(block, wanted, std::move(value));
  };
  const kir::Expr zero = kir::integer(0);
  const kir::Expr one = kir::integer(1);
  const kir::Expr row = kir::name(names.row);
  const kir::Expr live = kir::name(names.live);
  kir::Block out;
  // no cell is visited where there are no facets in between: then there are no positions either
  const kir::Expr n = declare(out, "n_cells", maximum(one, found.n_cells));
  const kir::Expr begin = declare(out, "first_cell", loop.begin);
  const kir::Expr end = declare(out, "end_cell", loop.end);
  // the column that the range ends in, perhaps before its first cell
  const kir::Expr open = declare(out, "open", end / n);
  const kir::Expr past =
      declare(out, "past_row", open + kir::select(kir::less(open * n, end), one, zero));
  if (found.first_level) {
    out.push_back(index_decl(names.bottom, *found.first_level));
  }
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
  kir::For by_columns{kir::Axis::serial, names.row, begin / n, past, std::move(each)};
  by_columns.step_name = names.live;
  out.push_back({std::move(by_columns)});
  return out;
}

}  // namespace op2::lower
