// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "kernel/fresh_names.hpp"
#include "kernel/types.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

// What one function uses, and what it declares itself, at any depth.
class Uses {
 public:
  void enter() { scopes_.enter(); }
  void leave() { scopes_.leave(); }
  void declare(const Variable& variable) { declare(variable.name); }
  void declare(const std::string& name) {
    scopes_.declare(name, true);
    declared.insert(name);
  }
  void expression(const Expr& expr) {
    for_each_expr(expr, [this](const Expr& part) {
      if (const auto* name = std::get_if<Name>(&part.node)) {
        if (scopes_.find(name->name) == nullptr) free.insert(name->name);
      }
      if (const auto* call = std::get_if<Call>(&part.node)) calls.insert(call->function);
    });
  }

  NameSet free;
  NameSet declared;
  NameSet calls;

 private:
  ScopeStack<bool> scopes_;
};

Uses uses_of(const FunctionDef& function) {
  Uses uses;
  uses.enter();
  for (const Parameter& parameter : function.parameters) uses.declare(parameter.name);
  walk_scoped(function.body, uses);
  uses.leave();
  return uses;
}

NameSet free_in_tables(const KernelBody& body) {
  Uses uses;
  uses.enter();
  for (const Variable& table : body.tables) {
    uses.declare(table.name);
    if (table.value) uses.expression(*table.value);
  }
  uses.leave();
  return uses.free;
}

void erase_tables(NameSet& names, const KernelBody& body) {
  for (const Variable& table : body.tables) names.erase(table.name);
}

// A function's constants, by name, with the hidden parameter each becomes there.
using Hidden = std::map<std::string, std::string>;

std::string hidden_name(const std::string& constant, const Uses& uses) {
  const auto is_taken = [&uses](const std::string& name) { return uses.declared.contains(name); };
  std::string name = constant;
  while (is_taken(name)) name += "_const";
  return name;
}

class Binder {
 public:
  Binder(const Hidden& own, const std::map<std::string, Hidden>& all,
         std::span<const Parameter> constants)
      : own_(own), all_(all), constants_(constants) {}

  void enter() { scopes_.enter(); }
  void leave() { scopes_.leave(); }
  void declare(const Variable& variable) { declare(variable.name); }
  void declare(const std::string& name) { scopes_.declare(name, true); }

  void expression(Expr& expr) const {
    for (Expr& operand : expr.operands) expression(operand);
    if (auto* name = std::get_if<Name>(&expr.node)) {
      const auto hidden = own_.find(name->name);
      if (hidden != own_.end() && scopes_.find(name->name) == nullptr) name->name = hidden->second;
    }
    if (const auto* call = std::get_if<Call>(&expr.node)) pass_on(call->function, expr);
  }

 private:
  void pass_on(const std::string& function, Expr& call) const {
    const auto needed = all_.find(function);
    if (needed == all_.end()) return;
    for (const Parameter& constant : constants_) {
      if (!needed->second.contains(constant.name)) continue;
      call.operands.push_back(Expr{.node = Name{own_.at(constant.name)},
                                   .operands = {},
                                   .type = constant.type,
                                   .line = call.line});
    }
  }

  const Hidden& own_;
  const std::map<std::string, Hidden>& all_;
  std::span<const Parameter> constants_;
  ScopeStack<bool> scopes_;
};

void bind_function(FunctionDef& function, const std::map<std::string, Hidden>& all,
                   std::span<const Parameter> constants) {
  const Hidden& own = all.at(function.name);
  Binder binder(own, all, constants);
  binder.enter();
  for (const Parameter& parameter : function.parameters) binder.declare(parameter.name);
  walk_scoped(function.body, binder);
  binder.leave();
  for (const Parameter& constant : constants) {
    const auto hidden = own.find(constant.name);
    if (hidden != own.end())
      function.parameters.push_back({.name = hidden->second, .type = constant.type});
  }
}

}  // namespace

std::vector<std::string> free_names(const KernelBody& body) {
  NameSet names = free_in_tables(body);
  for (const FunctionDef& function : body.functions) names.merge(uses_of(function).free);
  erase_tables(names, body);
  return {names.begin(), names.end()};
}

BoundBody bind_constants(KernelBody body, std::span<const Parameter> constants) {
  const NameSet in_tables = free_in_tables(body);
  for (const Parameter& constant : constants) {
    if (!in_tables.contains(constant.name)) continue;
    throw UsageError(fmt::format(
        "kernel '{}': a file-scope table is initialised from the Const '{}', whose value is only "
        "known when the loop runs; compute it inside the function",
        body.entry().name, constant.name));
  }
  std::map<std::string, Hidden> all;  // callees stand first, so one pass is enough
  for (const FunctionDef& function : body.functions) {
    const Uses uses = uses_of(function);
    NameSet needed = uses.free;
    erase_tables(needed, body);
    for (const std::string& callee : uses.calls) {
      const auto found = all.find(callee);
      if (found == all.end()) continue;
      for (const auto& [constant, hidden] : found->second) needed.insert(constant);
    }
    Hidden& own = all[function.name];
    for (const Parameter& constant : constants) {
      if (needed.contains(constant.name)) own[constant.name] = hidden_name(constant.name, uses);
    }
  }
  for (FunctionDef& function : body.functions) bind_function(function, all, constants);
  std::vector<Parameter> bound;
  const Hidden& needed = all.at(body.entry().name);
  std::ranges::copy_if(constants, std::back_inserter(bound), [&needed](const Parameter& constant) {
    return needed.contains(constant.name);
  });
  return {.body = infer_types(std::move(body)), .constants = std::move(bound)};
}

}  // namespace op2::kernel
