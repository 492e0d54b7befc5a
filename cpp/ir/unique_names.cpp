// SPDX-License-Identifier: BSD-3-Clause
#include "ir/unique_names.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "ir/kernel_walk.hpp"

namespace op2::ir {
namespace {

class Renamer {
 public:
  void enter() { scopes_.enter(); }
  void leave() { scopes_.leave(); }

  void declare(Variable& variable) {
    const std::string wanted = variable.name;
    const int n_seen = ++counts_[wanted];
    if (n_seen > 1) variable.name = fmt::format("{}#{}", wanted, n_seen);
    scopes_.declare(wanted, variable.name);
  }

  void parameter(const std::string& name) {
    ++counts_[name];
    scopes_.declare(name, name);
  }

  void expression(Expr& expr) const {
    for_each_expr(expr, [this](Expr& part) {
      auto* name = std::get_if<Name>(&part.node);
      if (name == nullptr) return;
      if (const std::string* renamed = scopes_.find(name->name)) name->name = *renamed;
    });
  }

 private:
  std::map<std::string, int> counts_;
  ScopeStack<std::string> scopes_;
};

}  // namespace

std::set<std::string> declared_names(const Body& body) {
  std::set<std::string> names;
  for (const Stmt& stmt : body) {
    const auto* declared = std::get_if<Declare>(&stmt.node);
    if (declared == nullptr) continue;
    for (const Variable& variable : declared->variables) names.insert(variable.name);
  }
  return names;
}

FunctionDef with_unique_names(FunctionDef function) {
  Renamer renamer;
  renamer.enter();
  for (const Parameter& parameter : function.parameters) renamer.parameter(parameter.name);
  walk_scoped(function.body, renamer);
  renamer.leave();
  return function;
}

std::string user_name(const std::string& name) {
  return name.substr(0, name.find('#'));
}

KernelBody with_unique_names(KernelBody body) {
  for (FunctionDef& function : body.functions) function = with_unique_names(std::move(function));
  return body;
}

}  // namespace op2::ir
