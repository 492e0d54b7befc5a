// SPDX-License-Identifier: BSD-3-Clause
#include "kir/walk.hpp"

namespace op2::kir {
namespace {

/// Arithmetic anew, so that numbers fold.
Expr folded(Expr expr) {
  auto* binary = std::get_if<Binary>(&expr.node);
  if (binary == nullptr) return expr;
  if (binary->op == BinaryOp::add) return binary->operands[0] + binary->operands[1];
  if (binary->op == BinaryOp::multiply) return binary->operands[0] * binary->operands[1];
  return expr;
}

}  // namespace

Expr map_expr(const Expr& expr, const Replacement& by) {
  if (std::optional<Expr> found = by(expr)) return std::move(*found);
  Expr out = expr;
  for (Expr& operand : operands_of(out)) operand = map_expr(operand, by);
  return folded(std::move(out));
}

Block map_exprs(Block block, const Replacement& by) {
  for_each_stmt(block, [&by](Stmt& stmt) {
    parts_of(stmt, detail::Parts{detail::Ignore{}, [&by](Expr& expr) { expr = map_expr(expr, by); },
                                 detail::Ignore{}});
  });
  return block;
}

std::set<std::string> names_used(const Block& block) {
  std::set<std::string> used;
  for_each_name_in(block, [&used](const std::string& name, Mention mention) {
    if (mention == Mention::used) used.insert(name);
  });
  return used;
}

void rename(Block& block, const std::string& from, const std::string& to) {
  for_each_name_in(block, [&](std::string& name, Mention /*mention*/) {
    if (name == from) name = to;
  });
}

}  // namespace op2::kir
