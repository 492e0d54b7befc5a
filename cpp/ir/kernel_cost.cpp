// SPDX-License-Identifier: BSD-3-Clause
#include "ir/kernel_cost.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "base/overload.hpp"
#include "ir/integers.hpp"
#include "ir/known_functions.hpp"
#include "ir/unique_names.hpp"

namespace op2::ir {
namespace {

using Costs = std::map<std::string, std::int64_t, std::less<>>;

std::int64_t cost_of(BinaryOp op, const Type& type) {
  if (!type.is_scalar() || !is_floating(type.base)) return 0;
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::subtract:
      return is_complex(type.base) ? 2 : 1;
    case BinaryOp::multiply:
      return is_complex(type.base) ? 6 : 1;
    case BinaryOp::divide:
      return is_complex(type.base) ? 11 : 1;
    case BinaryOp::modulo:
    case BinaryOp::shift_left:
    case BinaryOp::shift_right:
    case BinaryOp::less:
    case BinaryOp::greater:
    case BinaryOp::less_equal:
    case BinaryOp::greater_equal:
    case BinaryOp::equal:
    case BinaryOp::not_equal:
    case BinaryOp::bit_and:
    case BinaryOp::bit_xor:
    case BinaryOp::bit_or:
    case BinaryOp::logical_and:
    case BinaryOp::logical_or:
    case BinaryOp::comma:
      return 0;
  }
  return 0;
}

class Counter {
 public:
  Counter(const Costs& callees, Integers known) : callees_(callees), known_(std::move(known)) {}

  std::int64_t statements(const Body& body) {
    std::int64_t sum = 0;
    for (const Stmt& stmt : body) sum += statement(stmt);
    return sum;
  }

 private:
  std::int64_t statement(const Stmt& stmt) {
    return std::visit(
        overload{[this](const Declare& node) { return declare(node); },
                 [this](const Evaluate& node) { return cost(node.value); },
                 [this](const Block& node) { return statements(node.body); },
                 [this](const If& node) {
                   const std::int64_t yes = statements(node.then_body);
                   const std::int64_t no = statements(node.else_body);
                   return cost(node.condition) + std::max(yes, no);
                 },
                 [this](const For& node) { return loop(node); },
                 [this](const While& node) { return cost(node.condition) + statements(node.body); },
                 [this](const Switch& node) {
                   std::int64_t dearest = 0;
                   for (const Case& entry : node.cases) {
                     dearest = std::max(dearest, statements(entry.body));
                   }
                   return cost(node.value) + dearest;
                 },
                 [this](const Return& node) { return node.value ? cost(*node.value) : 0; },
                 [](const Break&) { return std::int64_t{0}; },
                 [](const Continue&) { return std::int64_t{0}; }},
        stmt.node);
  }

  std::int64_t declare(const Declare& node) {
    std::int64_t sum = 0;
    for (const Variable& variable : node.variables) {
      if (!variable.value) continue;
      if (!node.is_static) sum += cost(*variable.value);
      if (!variable.type.is_const || !variable.type.is_scalar()) continue;
      if (const auto value = integer_value(*variable.value, known_)) known_[variable.name] = *value;
    }
    return sum;
  }

  std::int64_t loop(const For& node) {
    const std::int64_t once = statements(node.body) + (node.condition ? cost(*node.condition) : 0) +
                              (node.step ? cost(*node.step) : 0);
    return statements(node.init) + trip_count(node, known_).value_or(1) * once;
  }

  [[nodiscard]] std::int64_t cost(const Expr& expr) const {
    std::int64_t sum = own_cost(expr);
    const bool is_evaluated = !std::holds_alternative<SizeOf>(expr.node);
    for (const Expr& operand : expr.operands) sum += is_evaluated ? cost(operand) : 0;
    return sum;
  }

  [[nodiscard]] std::int64_t own_cost(const Expr& expr) const {
    if (const auto* node = std::get_if<Binary>(&expr.node)) return cost_of(node->op, expr.type);
    if (const auto* node = std::get_if<Assign>(&expr.node)) {
      return node->op ? cost_of(*node->op, expr.type) : 0;
    }
    const auto* call = std::get_if<Call>(&expr.node);
    if (call == nullptr) return 0;
    const auto callee = callees_.find(call->function);
    if (callee != callees_.end()) return callee->second;
    const KnownFunction* known = known_function(call->function);
    return known == nullptr ? 0 : known->n_operations;
  }

  const Costs& callees_;
  Integers known_;
};

}  // namespace

std::int64_t n_operations(const KernelBody& body) {
  Costs costs;
  const Integers known = constant_integers(body);
  for (const FunctionDef& function : body.functions) {
    const FunctionDef named = with_unique_names(function);
    costs[function.name] = Counter(costs, known).statements(named.body);
  }
  return costs.at(body.entry().name);
}

}  // namespace op2::ir
