// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/aliases.hpp"

#include <algorithm>

#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

bool may_point(const Type& type) {
  return !type.derivation.empty() || !type.is_known();
}

/// An array of numbers is a pointer where it is used, but no pointer is stored in it.
bool holds_pointers(const Type& type) {
  return !type.is_known() || std::ranges::any_of(type.derivation, [](const Derivation& step) {
    return step.kind == Derivation::Kind::pointer;
  });
}

// The initialisers and assignments of a function, in any order.
struct Flows {
  std::vector<const Variable*> variables;
  std::vector<const Expr*> assignments;

  void enter() {}
  void leave() {}
  void declare(const Variable& variable) { variables.push_back(&variable); }
  void expression(const Expr& expr) {
    for_each_expr(expr, [this](const Expr& part) {
      if (std::holds_alternative<Assign>(part.node)) assignments.push_back(&part);
    });
  }
};

}  // namespace

Aliases::Aliases(const FunctionDef& function) {
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter& parameter = function.parameters[i];
    if (may_point(parameter.type)) names_[parameter.name] = {static_cast<int>(i)};
  }
  Flows flows;
  walk_scoped(function.body, flows);
  for (const Variable* variable : flows.variables) {
    if (may_point(variable->type)) names_[variable->name];
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (const Variable* variable : flows.variables) {
      const bool points = variable->value && holds_pointers(variable->type);
      if (points) changed = flow(variable->name, *variable->value) || changed;
    }
    for (const Expr* expr : flows.assignments) changed = assign(*expr) || changed;
  }
}

bool Aliases::flow(const std::string& name, const Expr& value) {
  ParameterSet& known = names_[name];
  const std::size_t n_before = known.size();
  known.merge(of(value));
  return known.size() != n_before;
}

bool Aliases::flow_everywhere(const Expr& value) {
  bool changed = false;
  for (auto& [name, known] : names_) changed = flow(name, value) || changed;
  return changed;
}

bool Aliases::assign(const Expr& expr) {
  const Expr& target = expr.operands[0];
  const Expr& value = expr.operands[1];
  if (!may_point(target.type) || of(value).empty()) return false;
  if (const auto* name = std::get_if<Name>(&target.node)) return flow(name->name, value);
  // Through a pointer to a pointer or into an array of pointers: it may be any.
  return flow_everywhere(value);
}

ParameterSet Aliases::of(const Expr& expr) const {
  const auto all = [this, &expr](std::size_t begin) {
    ParameterSet result;
    for (std::size_t i = begin; i < expr.operands.size(); ++i) {
      result.merge(of(expr.operands[i]));
    }
    return result;
  };
  return std::visit(
      overload{
          [](const Literal&) { return ParameterSet{}; },
          [this](const Name& node) {
            const auto found = names_.find(node.name);
            return found == names_.end() ? ParameterSet{} : found->second;
          },
          [&all](const Unary&) { return all(0); },
          [&all, &expr](const Binary& node) {
            if (!may_point(expr.type)) return ParameterSet{};
            return all(node.op == BinaryOp::comma ? 1 : 0);
          },
          [&all, &expr](const Assign&) { return may_point(expr.type) ? all(0) : ParameterSet{}; },
          [&all](const Ternary&) { return all(1); },
          [this, &expr](const Index&) { return of(expr.operands[0]); },
          [this, &expr](const MemberOf&) { return of(expr.operands[0]); },
          [&all, &expr](const Call&) { return may_point(expr.type) ? all(0) : ParameterSet{}; },
          [&all](const Cast&) { return all(0); }, [](const SizeOf&) { return ParameterSet{}; },
          [this, &expr](const InitList&) { return of_items(expr); }},
      expr.node);
}

/// Values that were read are copies: they lead nowhere.
ParameterSet Aliases::of_items(const Expr& list) const {
  ParameterSet result;
  for (const Expr& item : list.operands) {
    const bool is_list = std::holds_alternative<InitList>(item.node);
    if (is_list || may_point(item.type)) result.merge(of(item));
  }
  return result;
}

}  // namespace op2::kernel
