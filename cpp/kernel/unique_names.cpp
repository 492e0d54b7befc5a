// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/unique_names.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernel/constants.hpp"
#include "kernel/fresh_names.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

class Renamer {
 public:
  /// @param taken Names of tables and Consts: they mean the same in all of a function.
  explicit Renamer(const std::vector<std::string>& taken) {
    for (const std::string& name : taken) ++counts_[name];
  }

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

namespace {

FunctionDef renamed(FunctionDef function, const std::vector<std::string>& taken) {
  Renamer renamer(taken);
  renamer.enter();
  for (const Parameter& parameter : function.parameters) renamer.parameter(parameter.name);
  walk_scoped(function.body, renamer);
  renamer.leave();
  return function;
}

}  // namespace

FunctionDef with_unique_names(FunctionDef function) {
  return renamed(std::move(function), {});
}

KernelBody spelled(KernelBody body) {
  struct Speller {
    FreshNames fresh;
    std::map<std::string, std::string> names = {};
    void enter() {}
    void leave() {}
    void declare(Variable& variable) { spell(variable.name); }
    void expression(Expr& expr) {
      for_each_expr(expr, [this](Expr& part) {
        if (auto* name = std::get_if<Name>(&part.node)) spell(name->name);
      });
    }
    void spell(std::string& name) {
      const auto mark = name.find('#');
      if (mark == std::string::npos) return;
      std::string& own = names[name];
      if (own.empty()) own = fresh.take(std::string(name).replace(mark, 1, "_"));
      name = own;
    }
  };
  Speller speller{FreshNames(body)};
  for (FunctionDef& function : body.functions) walk_scoped(function.body, speller);
  return body;
}

std::string user_name(const std::string& name) {
  return name.substr(0, name.find('#'));
}

KernelBody with_unique_names(KernelBody body) {
  std::vector<std::string> taken = free_names(body);
  for (const Variable& table : body.tables) taken.push_back(table.name);
  for (FunctionDef& function : body.functions) function = renamed(std::move(function), taken);
  return body;
}

}  // namespace op2::kernel
