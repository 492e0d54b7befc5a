// SPDX-License-Identifier: BSD-3-Clause
#include "cg/conditions.hpp"

#include <utility>

#include "base/overload.hpp"
#include "ir/kernel_walk.hpp"

namespace op2::cg {
namespace {

using ir::Expr;

/// A truth value as languages want it; numbers of vectors are masks already.
void become_condition(Expr& expr) {
  const bool is_number = expr.type.is_scalar() && ir::is_floating(expr.type.base);
  if (is_number && expr.type.lanes == 0) compare_with_zero(expr);
}

bool is_logical(ir::BinaryOp op) {
  return op == ir::BinaryOp::logical_and || op == ir::BinaryOp::logical_or;
}

void look_at(Expr& expr) {
  if (const auto* node = std::get_if<ir::Unary>(&expr.node)) {
    if (node->op == ir::UnaryOp::logical_not) become_condition(expr.operands[0]);
  } else if (const auto* node = std::get_if<ir::Binary>(&expr.node)) {
    if (!is_logical(node->op)) return;
    for (Expr& operand : expr.operands) become_condition(operand);
  } else if (std::holds_alternative<ir::Ternary>(expr.node)) {
    become_condition(expr.operands[0]);
  }
}

void look_at(ir::Stmt& stmt) {
  std::visit(overload{
                 [](ir::Declare&) {},
                 [](ir::Evaluate&) {},
                 [](ir::Block&) {},
                 [](ir::If& node) { become_condition(node.condition); },
                 [](ir::For& node) {
                   if (node.condition) become_condition(*node.condition);
                 },
                 [](ir::While& node) { become_condition(node.condition); },
                 [](ir::Switch&) {},
                 [](ir::Return&) {},
                 [](ir::Break&) {},
                 [](ir::Continue&) {},
             },
             stmt.node);
}

}  // namespace

void compare_with_zero(Expr& condition) {
  const int line = condition.line;
  Expr zero{ir::Literal{"0"}, {}, ir::scalar(ir::Base::int32), line};
  condition = {ir::Binary{ir::BinaryOp::not_equal},
               {std::move(condition), std::move(zero)},
               ir::scalar(ir::Base::int32),
               line};
}

void spell_out_conditions(ir::KernelBody& body) {
  for (ir::FunctionDef& function : body.functions) {
    ir::for_each_body(function.body, [](ir::Body& statements) {
      for (ir::Stmt& stmt : statements) look_at(stmt);
    });
    ir::for_each_expr_in(function.body, [](Expr& expr) { look_at(expr); });
  }
}

}  // namespace op2::cg
