// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_columns.hpp"

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
  const kir::Expr one = kir::integer(1);
  kir::Block out;
  const auto declare = [&elements](kir::Block& block, const char* wanted, kir::Expr value) {
    return elements.declare(block, wanted, std::move(value));
  };
  // no cell is visited where there are no facets in between: then there are no positions either
  const kir::Expr n = declare(out, "n_cells", maximum(kir::integer(1), found.n_cells));
  const kir::Expr begin = declare(out, "first_cell", loop.begin);
  const kir::Expr end = declare(out, "end_cell", loop.end);
  // The column that the range begins in, if not with its first cell; whole ones; the one it ends
  // in.
  const kir::Expr broken = declare(out, "broken", begin / n);
  const kir::Expr whole = declare(out, "whole", (begin + (n - one)) / n);
  const kir::Expr open = declare(out, "open", maximum(whole, end / n));
  const kir::Expr past = declare(out, "past", maximum(open, (end + (n - one)) / n));

  const std::string part = elements.fresh("part");
  const auto by_part = [&part](const kir::Expr& a, const kir::Expr& b, const kir::Expr& c) {
    const kir::Expr which = kir::name(part);
    return kir::select(kir::equal(which, kir::integer(0)), a,
                       kir::select(kir::equal(which, kir::integer(1)), b, c));
  };
  kir::Block each;
  const kir::Expr first = declare(each, "first_row", by_part(broken, whole, open));
  each.push_back(
      {kir::Decl{{DType::int64, true, false}, names.end, 0, {by_part(whole, open, past)}}});
  const kir::Expr below = declare(each, "below", begin - first * n);
  const kir::Expr low = declare(each, "low", maximum(below, kir::integer(0)));
  const kir::Expr high = declare(each, "high", kir::minimum(n, end - first * n));
  columns.push_back({kir::For{kir::Axis::serial, names.step, low, high, std::move(cells)}});
  each.push_back({kir::For{kir::Axis::serial, names.row, first, kir::name(names.end),
                           std::move(columns), DType::int64, elements.lanes()}});
  out.push_back(
      {kir::For{kir::Axis::serial, part, kir::integer(0), kir::integer(3), std::move(each)}});
  return out;
}

}  // namespace op2::lower
