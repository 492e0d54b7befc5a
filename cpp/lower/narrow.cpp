// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "kir/walk.hpp"
#include "lower/make.hpp"
#include "lower/passes.hpp"

namespace op2::lower {
namespace {

void narrow_expr(kir::Expr& expr) {
  while (auto* widen = std::get_if<kir::Widen>(&expr.node)) {
    kir::Expr operand = std::move(widen->operands.front());
    expr = std::move(operand);
  }
}

void narrow_type(kir::Stmt& stmt) {
  if (auto* loop = std::get_if<kir::For>(&stmt.node)) loop->index_type = DType::int32;
  auto* decl = std::get_if<kir::Decl>(&stmt.node);
  if (decl != nullptr && decl->type == index_type() && decl->extent == 0) {
    decl->type.dtype = DType::int32;
  }
}

}  // namespace

kir::Block narrow(kir::Block block) {
  kir::for_each_stmt(block, narrow_type);
  kir::for_each_expr_in(block, narrow_expr);
  return block;
}

}  // namespace op2::lower
