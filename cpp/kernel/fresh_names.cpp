// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/fresh_names.hpp"

#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

struct Collector {
  NameSet& names;
  bool has_uses;  // also what is only used

  void enter() {}
  void leave() {}
  void declare(const Variable& variable) { names.insert(variable.name); }
  void expression(const Expr& expr) {
    if (!has_uses) return;
    for_each_expr(expr, [this](const Expr& part) {
      if (const auto* name = std::get_if<Name>(&part.node)) names.insert(name->name);
      if (const auto* call = std::get_if<Call>(&part.node)) names.insert(call->function);
    });
  }
};

NameSet names_of_functions(const KernelBody& body, bool has_uses) {
  NameSet names;
  Collector collector{names, has_uses};
  for (const FunctionDef& function : body.functions) {
    for (const Parameter& parameter : function.parameters) names.insert(parameter.name);
    walk_scoped(function.body, collector);
  }
  return names;
}

}  // namespace

NameSet local_names(const KernelBody& body) {
  return names_of_functions(body, false);
}

NameSet names_in(const KernelBody& body) {
  NameSet names = names_of_functions(body, true);
  for (const Variable& table : body.tables) names.insert(table.name);
  for (const FunctionDef& function : body.functions) names.insert(function.name);
  return names;
}

}  // namespace op2::kernel
