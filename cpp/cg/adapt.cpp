// SPDX-License-Identifier: BSD-3-Clause
#include "cg/adapt.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/overload.hpp"
#include "cg/complex_numbers.hpp"
#include "cg/conditions.hpp"
#include "cg/ranges.hpp"
#include "kernel/fresh_names.hpp"
#include "kernel/known_functions.hpp"
#include "kernel/lane_functions.hpp"
#include "kernel/types.hpp"
#include "kernel/walk.hpp"

namespace op2::cg {
namespace {

using kernel::Base;
using kernel::Expr;
using kernel::Type;

// ------------------------------------------------------------------------------------------ names

/// Renames what the dialect keeps for itself, and moves static tables to file scope. No local has
/// the name of a table then, so that a table is known by its name alone.
class Renamer {
 public:
  Renamer(kernel::KernelBody& body, const Dialect& dialect)
      : body_(body), dialect_(dialect), fresh_(body) {}

  void run() {
    scopes_.enter();
    const kernel::NameSet locals = kernel::local_names(body_);
    for (kernel::Variable& table : body_.tables) {
      if (table.value) expression(*table.value);
      declare_as(table.name, is_of_file_scope(table.name) || locals.contains(table.name));
    }
    for (kernel::FunctionDef& function : body_.functions) {
      scopes_.enter();
      for (kernel::Parameter& parameter : function.parameters) declare_as(parameter.name, false);
      function_ = function.name;
      hoist_next_ = statics_of(function.body);
      kernel::walk_scoped(function.body, *this);
      kernel::for_each_body(function.body, [](kernel::Body& statements) {
        std::erase_if(statements, [](const kernel::Stmt& stmt) {
          const auto* node = std::get_if<kernel::Declare>(&stmt.node);
          return node != nullptr && node->is_static;
        });
      });
      scopes_.leave();
      if (is_of_file_scope(function.name)) {
        const std::string name = free_name(function.name);
        functions_[function.name] = name;
        function.name = name;
      }
    }
    for (kernel::Variable& table : hoisted_) body_.tables.push_back(std::move(table));
  }

  void enter() { scopes_.enter(); }
  void leave() { scopes_.leave(); }

  void declare(kernel::Variable& variable) {
    if (!hoist_next_.contains(&variable)) return declare_as(variable.name, false);
    const std::string name = fresh_.has("table_" + variable.name)
                                 ? free_name(function_ + "_" + variable.name)
                                 : fresh_.take("table_" + variable.name);
    scopes_.declare(variable.name, name);
    hoisted_.push_back(variable);
    hoisted_.back().name = name;
    hoisted_.back().type.is_const = true;
  }

  void expression(Expr& expr) {
    kernel::for_each_expr(expr, [this](Expr& part) {
      if (auto* name = std::get_if<kernel::Name>(&part.node)) {
        if (const std::string* renamed = scopes_.find(name->name)) name->name = *renamed;
      }
      if (auto* call = std::get_if<kernel::Call>(&part.node)) {
        const auto renamed = functions_.find(call->function);
        if (renamed != functions_.end()) call->function = renamed->second;
      }
    });
  }

 private:
  static std::set<const kernel::Variable*> statics_of(kernel::Body& body) {
    std::set<const kernel::Variable*> found;
    kernel::for_each_body(body, [&found](kernel::Body& statements) {
      for (kernel::Stmt& stmt : statements) {
        auto* node = std::get_if<kernel::Declare>(&stmt.node);
        if (node == nullptr || !node->is_static) continue;
        for (const kernel::Variable& variable : node->variables) found.insert(&variable);
      }
    });
    return found;
  }

  [[nodiscard]] bool is_word(const std::string& name) const {
    return dialect_.vocabulary.is_word(name);
  }

  /// Whether the name is taken at file scope: by the language, or by C's library, whose functions
  /// become the device's; calls of a function of the kernel's own would be taken for theirs.
  [[nodiscard]] bool is_of_file_scope(const std::string& name) const {
    return is_word(name) || dialect_.vocabulary.is_function(name) ||
           kernel::known_function(name) != nullptr ||
           kernel::known_function("__builtin_" + name) != nullptr;
  }

  std::string free_name(const std::string& name) { return fresh_.take(name + "_"); }

  void declare_as(std::string& name, bool is_forbidden) {
    const std::string given = name;
    if (is_forbidden || is_word(name)) name = free_name(name);
    scopes_.declare(given, name);
  }

  kernel::KernelBody& body_;
  const Dialect& dialect_;
  kernel::FreshNames fresh_;
  kernel::ScopeStack<std::string> scopes_;  // name as written to name as printed
  std::map<std::string, std::string> functions_;
  std::set<const kernel::Variable*> hoist_next_;  // the function's static tables
  std::vector<kernel::Variable> hoisted_;
  std::string function_;
};

// ----------------------------------------------------------------------------------------- tables

/// The name of the array that an address `&a[i][j]` leads into; null if that is not what it is.
const Expr* root_expr_of(const Expr& address) {
  const auto* unary = std::get_if<kernel::Unary>(&address.node);
  if (unary == nullptr || unary->op != kernel::UnaryOp::address) return nullptr;
  const Expr* base = &address.operands[0];
  while (std::holds_alternative<kernel::Index>(base->node)) base = &base->operands[0];
  return std::holds_alternative<kernel::Name>(base->node) ? base : nullptr;
}

const std::string* root_of(const Expr& address) {
  const Expr* root = root_expr_of(address);
  return root == nullptr ? nullptr : &std::get<kernel::Name>(root->node).name;
}

bool is_lookup_in_place(const Expr& expr) {
  const auto* call = std::get_if<kernel::Call>(&expr.node);
  const auto function = call == nullptr ? std::nullopt : kernel::lane_function(call->function);
  return function && function->op == kernel::LaneOp::table;
}

/// Names in @p expr whose address is used, not only a scalar behind them.
void addresses_in(const Expr& expr, std::set<std::string>& names) {
  const Expr* base = &expr;
  int depth = 0;
  while (std::holds_alternative<kernel::Index>(base->node)) {
    addresses_in(base->operands[1], names);
    base = &base->operands[0];
    ++depth;
  }
  if (const auto* name = std::get_if<kernel::Name>(&base->node)) {
    if (base->type.depth() > depth || !base->type.is_known()) names.insert(name->name);
    return;
  }
  for (const Expr& operand : base->operands) addresses_in(operand, names);
}

std::set<std::string> addresses_in(const kernel::FunctionDef& function) {
  std::set<std::string> names;
  struct Visitor {
    std::set<std::string>& names;
    void enter() {}
    void leave() {}
    void declare(const kernel::Variable& /*variable*/) {}
    void expression(const Expr& expr) {
      std::set<const Expr*> in_place;
      kernel::for_each_expr(expr, [this, &in_place](const Expr& part) {
        if (is_lookup_in_place(part)) in_place.insert(&part.operands[0]);
        const std::string* name = root_of(part);
        if (name != nullptr && !in_place.contains(&part)) names.insert(*name);
      });
      addresses_in(expr, names);
    }
  };
  Visitor visitor{names};
  kernel::walk_scoped(function.body, visitor);
  return names;
}

/// Lanes look tables up where they are. Each lookup gets the name of one in the tables' space.
void look_up_in_place(const kernel::KernelBody& body, kernel::FunctionDef& function) {
  const auto is_table = [&body](const std::string& name) {
    return std::ranges::any_of(body.tables, [&name](const kernel::Variable& table) {
      // functions have complex tables of their own
      return table.name == name && !kernel::is_complex(table.type.base);
    });
  };
  kernel::for_each_expr_in(function.body, [&is_table](Expr& expr) {
    auto* call = std::get_if<kernel::Call>(&expr.node);
    auto lookup = call == nullptr ? std::nullopt : kernel::lane_function(call->function);
    if (!lookup || lookup->op != kernel::LaneOp::lookup) return;
    const std::string* name = root_of(expr.operands[0]);
    if (name == nullptr || !is_table(*name)) return;
    lookup->op = kernel::LaneOp::table;
    call->function = kernel::name_of(*lookup);
  });
}

/// A private copy of each table whose address @p function uses, but for lookups in place.
void copy_tables(const kernel::KernelBody& body, kernel::FunctionDef& function) {
  const std::set<std::string> addresses = addresses_in(function);
  std::set<const Expr*> in_place;
  kernel::for_each_expr_in(function.body, [&in_place](const Expr& expr) {
    if (is_lookup_in_place(expr)) in_place.insert(root_expr_of(expr.operands[0]));
  });
  kernel::Body copies;
  for (const kernel::Variable& table : body.tables) {
    if (!addresses.contains(table.name)) continue;
    kernel::Variable copy = table;
    copy.name += "_copy";
    kernel::for_each_expr_in(function.body, [&](Expr& expr) {
      auto* name = std::get_if<kernel::Name>(&expr.node);
      const bool is_used = name != nullptr && name->name == table.name && !in_place.contains(&expr);
      if (is_used) name->name = copy.name;
    });
    copies.push_back({kernel::Declare{false, {std::move(copy)}}});
  }
  function.body.insert(function.body.begin(), copies.begin(), copies.end());
}

// ------------------------------------------------------------------------------------- expressions

Expr cast_to(const Type& type, Expr value) {
  Type target = type;
  target.is_const = false;
  const int line = value.line;
  return {kernel::Cast{target}, {std::move(value)}, target, line};
}

bool has_base(const Expr& expr, Base base) {
  return expr.type.is_scalar() && expr.type.base == base;
}

/// What the user's C library calls become.
void rewrite_call(Expr& expr, const Dialect& dialect) {
  auto& call = std::get<kernel::Call>(expr.node);
  const kernel::KnownFunction* known = kernel::known_function(call.function);
  if (known == nullptr) return;
  for (std::size_t i = 0; i < std::min(known->parameters.size(), expr.operands.size()); ++i) {
    const Type& wanted = known->parameters[i];
    if (wanted.is_scalar() && !has_base(expr.operands[i], wanted.base)) {
      expr.operands[i] = cast_to(wanted, std::move(expr.operands[i]));
    }
  }
  const LibraryFunction function = dialect.library(*known);
  call.function = function.name;
  if (function.is_literal) {
    expr.node = kernel::Literal{function.name};
    expr.operands.clear();
  }
  if (function.cast_result) {
    expr.type = known->result;
    expr = cast_to(known->result, std::move(expr));
  }
}

/// `{0, i}` for doubles: C converts, C++ refuses to narrow.
void cast_items(Expr& expr, const Type& scalar) {
  for (Expr& item : expr.operands) {
    if (std::holds_alternative<kernel::InitList>(item.node)) {
      cast_items(item, scalar);
    } else if (!std::holds_alternative<kernel::Literal>(item.node) &&
               !has_base(item, scalar.base)) {
      item = cast_to(scalar, std::move(item));
    }
  }
}

/// `1LL` and `1.0L`: there may be no long long, and devices have no long double.
void shorten(kernel::Literal& literal) {
  std::string& text = literal.spelling;
  if (!text.empty() && kernel::is_long_double(text)) text.pop_back();
  if (text.empty() || text.front() < '0' || text.front() > '9') return;
  for (const std::string_view twice : {"LL", "ll"}) {
    const std::size_t at = text.find(twice);
    if (at != std::string::npos) text.erase(at, 1);
  }
}

struct Adaptor {
  const Dialect& dialect;

  void enter() {}
  void leave() {}
  void declare(kernel::Variable& variable) const { initialiser(variable); }

  void initialiser(kernel::Variable& variable) const {
    if (variable.value && std::holds_alternative<kernel::InitList>(variable.value->node)) {
      Type item = variable.type;
      while (item.is_array()) item.derivation.erase(item.derivation.begin());
      if (dialect.is_cxx && item.is_scalar()) cast_items(*variable.value, item);
    }
  }

  void expression(Expr& expr) const {
    for (Expr& operand : expr.operands) expression(operand);
    if (auto* literal = std::get_if<kernel::Literal>(&expr.node)) shorten(*literal);
    if (std::holds_alternative<kernel::Call>(expr.node)) rewrite_call(expr, dialect);
  }
};

}  // namespace

kernel::KernelBody adapted(kernel::KernelBody body, const Dialect& dialect) {
  if (dialect.library == nullptr) return body;
  body = with_plain_updates(std::move(body));
  Renamer(body, dialect).run();
  if (dialect.has_constant_space) {
    for (kernel::FunctionDef& function : body.functions) {
      look_up_in_place(body, function);
      copy_tables(body, function);
    }
  }
  Adaptor adaptor{dialect};
  for (kernel::Variable& table : body.tables) {
    adaptor.initialiser(table);
    if (table.value) adaptor.expression(*table.value);
  }
  for (kernel::FunctionDef& function : body.functions) kernel::walk_scoped(function.body, adaptor);
  if (dialect.hides_ranges) hide_ranges(body);
  if (dialect.compares_conditions) spell_out_conditions(body);
  spell_out_complex(body, dialect.complex_by);
  return body;
}

}  // namespace op2::cg
