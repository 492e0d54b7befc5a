// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/updates.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "kernel/effects.hpp"

namespace op2::kernel {
namespace {

struct Comparison {
  const Expr* smaller;  ///< of the two operands, if the comparison holds
  const Expr* larger;
};

std::optional<Comparison> comparison_of(const Expr& expr) {
  const auto* node = std::get_if<Binary>(&expr.node);
  if (node == nullptr) return std::nullopt;
  const Expr* left = &expr.operands[0];
  const Expr* right = &expr.operands[1];
  if (node->op == BinaryOp::less || node->op == BinaryOp::less_equal) {
    return Comparison{.smaller = left, .larger = right};
  }
  if (node->op == BinaryOp::greater || node->op == BinaryOp::greater_equal) {
    return Comparison{.smaller = right, .larger = left};
  }
  return std::nullopt;
}

// `target` keeps its value or becomes `value`, which is `chosen` if the comparison holds.
std::optional<Update> extreme(const Comparison& comparison, const Expr& target, const Expr& chosen,
                              const Expr& other) {
  const Expr& value = chosen == target ? other : chosen;
  if (!has_no_effect(value)) return std::nullopt;
  const bool is_smaller = *comparison.smaller == chosen && *comparison.larger == other;
  const bool is_larger = *comparison.larger == chosen && *comparison.smaller == other;
  if (is_smaller == is_larger) return std::nullopt;
  Update update{.use = is_smaller ? Use::minimum : Use::maximum,
                .target = &target,
                .values = {&value},
                .own = {}};
  for (const Expr* read : {comparison.smaller, comparison.larger, &chosen, &other}) {
    if (*read == target) update.own.push_back(read);
  }
  return update;
}

std::optional<Update> update_by_call(const Expr& target, const Expr& value, const Call& call) {
  std::string_view name = call.function;
  if (name.starts_with("__builtin_")) name.remove_prefix(10);
  const bool is_minimum = name == "fmin" || name == "fminf" || name == "min";
  const bool is_maximum = name == "fmax" || name == "fmaxf" || name == "max";
  if (!(is_minimum || is_maximum) || value.operands.size() != 2) return std::nullopt;
  const std::size_t own = value.operands[0] == target ? 0 : 1;
  if (value.operands[own] != target) return std::nullopt;
  return Update{.use = is_minimum ? Use::minimum : Use::maximum,
                .target = &target,
                .values = {&value.operands[1 - own]},
                .own = {&value.operands[own]}};
}

struct Term {
  const Expr* value;
  bool is_added;
};

void collect_terms(const Expr& expr, bool is_added, std::vector<Term>& terms) {
  const auto* node = std::get_if<Binary>(&expr.node);
  const bool is_sum =
      node != nullptr && (node->op == BinaryOp::add || node->op == BinaryOp::subtract);
  if (!is_sum) {
    terms.push_back({&expr, is_added});
    return;
  }
  collect_terms(expr.operands[0], is_added, terms);
  collect_terms(expr.operands[1], is_added == (node->op == BinaryOp::add), terms);
}

std::optional<Update> update_by_sum(const Expr& target, const Expr& value) {
  std::vector<Term> terms;
  collect_terms(value, true, terms);
  const auto own = std::ranges::find_if(
      terms, [&target](const Term& term) { return term.is_added && *term.value == target; });
  if (own == terms.end() || terms.size() < 2) return std::nullopt;
  Update update{.use = Use::increment, .target = &target, .values = {}, .own = {own->value}};
  terms.erase(own);
  for (const Term& term : terms) update.values.push_back(term.value);
  return update;
}

std::optional<Update> update_by_assignment(const Assign& node, const Expr& expr) {
  const Expr& target = expr.operands[0];
  const Expr& value = expr.operands[1];
  if (node.op) {
    if (*node.op != BinaryOp::add && *node.op != BinaryOp::subtract) return std::nullopt;
    return Update{.use = Use::increment, .target = &target, .values = {&value}, .own = {}};
  }
  if (!has_no_effect(target)) return std::nullopt;
  if (std::holds_alternative<Binary>(value.node)) return update_by_sum(target, value);
  if (const auto* call = std::get_if<Call>(&value.node)) {
    return update_by_call(target, value, *call);
  }
  if (!std::holds_alternative<Ternary>(value.node)) return std::nullopt;
  const auto comparison = comparison_of(value.operands[0]);
  const Expr& yes = value.operands[1];
  const Expr& no = value.operands[2];
  if (!comparison || (yes == target) == (no == target)) return std::nullopt;
  return extreme(*comparison, target, yes, no);
}

}  // namespace

std::optional<Update> update_of(const Expr& expr) {
  if (const auto* node = std::get_if<Assign>(&expr.node)) return update_by_assignment(*node, expr);
  if (!is_step(expr)) return std::nullopt;
  return Update{.use = Use::increment, .target = &expr.operands[0], .values = {}, .own = {}};
}

std::optional<Update> update_of(const If& node) {
  if (!node.else_body.empty() || node.then_body.size() != 1) return std::nullopt;
  const auto* then = std::get_if<Evaluate>(&node.then_body.front().node);
  if (then == nullptr) return std::nullopt;
  const auto* assign = std::get_if<Assign>(&then->value.node);
  const auto comparison = comparison_of(node.condition);
  if (assign == nullptr || assign->op || !comparison) return std::nullopt;
  const Expr& target = then->value.operands[0];
  if (!has_no_effect(target)) return std::nullopt;
  return extreme(*comparison, target, then->value.operands[1], target);
}

}  // namespace op2::kernel
