// SPDX-License-Identifier: BSD-3-Clause
#include "cg/conditions.hpp"

#include <utility>

#include "base/overload.hpp"
#include "kernel/walk.hpp"

namespace op2::cg {
namespace {

using kernel::Expr;

/// A truth value as languages want it; numbers of vectors are masks already.
void become_condition(Expr& expr) {
  const bool is_number = expr.type.is_scalar() && kernel::is_floating(expr.type.base);
  if (is_number && expr.type.lanes == 0) compare_with_zero(expr);
}

bool is_logical(kernel::BinaryOp op) {
  return op == kernel::BinaryOp::logical_and || op == kernel::BinaryOp::logical_or;
}

void look_at(Expr& expr) {
  if (const auto* node = std::get_if<kernel::Unary>(&expr.node)) {
    if (node->op == kernel::UnaryOp::logical_not) become_condition(expr.operands[0]);
  } else if (const auto* node = std::get_if<kernel::Binary>(&expr.node)) {
    if (!is_logical(node->op)) return;
    for (Expr& operand : expr.operands) become_condition(operand);
  } else if (std::holds_alternative<kernel::Ternary>(expr.node)) {
    become_condition(expr.operands[0]);
  }
}

void look_at(kernel::Stmt& stmt) {
  std::visit(overload{
                 [](kernel::Declare&) {},
                 [](kernel::Evaluate&) {},
                 [](kernel::Block&) {},
                 [](kernel::If& node) { become_condition(node.condition); },
                 [](kernel::For& node) {
                   if (node.condition) become_condition(*node.condition);
                 },
                 [](kernel::While& node) { become_condition(node.condition); },
                 [](kernel::Switch&) {},
                 [](kernel::Return&) {},
                 [](kernel::Break&) {},
                 [](kernel::Continue&) {},
             },
             stmt.node);
}

}  // namespace

void compare_with_zero(Expr& condition) {
  const int line = condition.line;
  Expr zero{kernel::Literal{"0"}, {}, kernel::scalar(kernel::Base::int32), line};
  condition = {kernel::Binary{kernel::BinaryOp::not_equal},
               {std::move(condition), std::move(zero)},
               kernel::scalar(kernel::Base::int32),
               line};
}

void spell_out_conditions(kernel::KernelBody& body) {
  for (kernel::FunctionDef& function : body.functions) {
    kernel::for_each_body(function.body, [](kernel::Body& statements) {
      for (kernel::Stmt& stmt : statements) look_at(stmt);
    });
    kernel::for_each_expr_in(function.body, [](Expr& expr) { look_at(expr); });
  }
}

}  // namespace op2::cg
