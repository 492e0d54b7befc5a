// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/effects.hpp"

#include <algorithm>
#include <cstddef>
#include <variant>

#include "kernel/known_functions.hpp"

namespace op2::kernel {
namespace {

bool stores_nothing(const KnownFunction& function) {
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    if (function.writes(i)) return false;
  }
  return true;
}

}  // namespace

bool is_step(UnaryOp op) {
  return op >= UnaryOp::pre_increment;
}

bool is_step(const Expr& expr) {
  const auto* unary = std::get_if<Unary>(&expr.node);
  return unary != nullptr && is_step(unary->op);
}

bool is_post_step(UnaryOp op) {
  return op >= UnaryOp::post_increment;
}

bool is_up(UnaryOp step) {
  return step == UnaryOp::pre_increment || step == UnaryOp::post_increment;
}

UnaryOp without_value(UnaryOp step) {
  return is_up(step) ? UnaryOp::pre_increment : UnaryOp::pre_decrement;
}

bool is_store(const Expr& expr) {
  return std::holds_alternative<Assign>(expr.node) || is_step(expr);
}

bool has_no_own_effect(const Expr& expr, const CallRule& is_harmless) {
  const auto* call = std::get_if<Call>(&expr.node);
  if (call == nullptr) return !is_store(expr);
  const KnownFunction* known = known_function(call->function);
  return known != nullptr ? stores_nothing(*known) : is_harmless && is_harmless(expr);
}

bool has_no_effect(const Expr& expr, const CallRule& is_harmless) {
  if (std::holds_alternative<SizeOf>(expr.node)) return true;  // its operand is not evaluated
  return has_no_own_effect(expr, is_harmless) &&
         std::ranges::all_of(expr.operands, [&is_harmless](const Expr& operand) {
           return has_no_effect(operand, is_harmless);
         });
}

bool has_no_effect(const Expr& expr) {
  return has_no_effect(expr, {});
}

}  // namespace op2::kernel
