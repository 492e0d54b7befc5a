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
#include "ir/kernel_types.hpp"
#include "ir/kernel_walk.hpp"
#include "ir/known_functions.hpp"
#include "ir/lane_functions.hpp"

namespace op2::cg {
namespace {

using ir::Base;
using ir::Expr;
using ir::Type;

// ------------------------------------------------------------------------------------------ names

/// Parameters and locals of all functions.
std::set<std::string> local_names(const ir::KernelBody& body) {
  std::set<std::string> names;
  struct Collector {
    std::set<std::string>& names;
    void enter() {}
    void leave() {}
    void declare(const ir::Variable& variable) { names.insert(variable.name); }
    void expression(const Expr& /*expr*/) {}
  };
  Collector collector{names};
  for (const ir::FunctionDef& function : body.functions) {
    for (const ir::Parameter& parameter : function.parameters) names.insert(parameter.name);
    ir::walk_scoped(function.body, collector);
  }
  return names;
}

std::set<std::string> all_names(const ir::KernelBody& body) {
  std::set<std::string> names;
  struct Collector {
    std::set<std::string>& names;
    void enter() {}
    void leave() {}
    void declare(const ir::Variable& variable) { names.insert(variable.name); }
    void expression(const Expr& expr) {
      ir::for_each_expr(expr, [this](const Expr& part) {
        if (const auto* name = std::get_if<ir::Name>(&part.node)) names.insert(name->name);
      });
    }
  };
  Collector collector{names};
  for (const ir::Variable& table : body.tables) names.insert(table.name);
  for (const ir::FunctionDef& function : body.functions) {
    names.insert(function.name);
    for (const ir::Parameter& parameter : function.parameters) names.insert(parameter.name);
    ir::walk_scoped(function.body, collector);
  }
  return names;
}

/// Renames what the dialect keeps for itself, and moves static tables to file scope. No local has
/// the name of a table then, so that a table is known by its name alone.
class Renamer {
 public:
  Renamer(ir::KernelBody& body, const Dialect& dialect)
      : body_(body), dialect_(dialect), taken_(all_names(body)) {}

  void run() {
    scopes_.enter();
    const std::set<std::string> locals = local_names(body_);
    for (ir::Variable& table : body_.tables) {
      if (table.value) expression(*table.value);
      declare_as(table.name, is_of_file_scope(table.name) || locals.contains(table.name));
    }
    for (ir::FunctionDef& function : body_.functions) {
      scopes_.enter();
      for (ir::Parameter& parameter : function.parameters) declare_as(parameter.name, false);
      function_ = function.name;
      hoist_next_ = statics_of(function.body);
      ir::walk_scoped(function.body, *this);
      ir::for_each_body(function.body, [](ir::Body& statements) {
        std::erase_if(statements, [](const ir::Stmt& stmt) {
          const auto* node = std::get_if<ir::Declare>(&stmt.node);
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
    for (ir::Variable& table : hoisted_) body_.tables.push_back(std::move(table));
  }

  void enter() { scopes_.enter(); }
  void leave() { scopes_.leave(); }

  void declare(ir::Variable& variable) {
    if (!hoist_next_.contains(&variable)) return declare_as(variable.name, false);
    const std::string name = taken_.contains("table_" + variable.name)
                                 ? free_name(function_ + "_" + variable.name)
                                 : "table_" + variable.name;
    taken_.insert(name);
    scopes_.declare(variable.name, name);
    hoisted_.push_back(variable);
    hoisted_.back().name = name;
    hoisted_.back().type.is_const = true;
  }

  void expression(Expr& expr) {
    ir::for_each_expr(expr, [this](Expr& part) {
      if (auto* name = std::get_if<ir::Name>(&part.node)) {
        if (const std::string* renamed = scopes_.find(name->name)) name->name = *renamed;
      }
      if (auto* call = std::get_if<ir::Call>(&part.node)) {
        const auto renamed = functions_.find(call->function);
        if (renamed != functions_.end()) call->function = renamed->second;
      }
    });
  }

 private:
  static std::set<const ir::Variable*> statics_of(ir::Body& body) {
    std::set<const ir::Variable*> found;
    ir::for_each_body(body, [&found](ir::Body& statements) {
      for (ir::Stmt& stmt : statements) {
        auto* node = std::get_if<ir::Declare>(&stmt.node);
        if (node == nullptr || !node->is_static) continue;
        for (const ir::Variable& variable : node->variables) found.insert(&variable);
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
           ir::known_function(name) != nullptr ||
           ir::known_function("__builtin_" + name) != nullptr;
  }

  std::string free_name(std::string name) {
    do name += "_";
    while (taken_.contains(name));
    taken_.insert(name);
    return name;
  }

  void declare_as(std::string& name, bool is_forbidden) {
    const std::string given = name;
    if (is_forbidden || is_word(name)) name = free_name(name);
    scopes_.declare(given, name);
  }

  ir::KernelBody& body_;
  const Dialect& dialect_;
  std::set<std::string> taken_;
  ir::ScopeStack<std::string> scopes_;  // name as written to name as printed
  std::map<std::string, std::string> functions_;
  std::set<const ir::Variable*> hoist_next_;  // the function's static tables
  std::vector<ir::Variable> hoisted_;
  std::string function_;
};

// ----------------------------------------------------------------------------------------- tables

/// The name of the array that an address `&a[i][j]` leads into; null if that is not what it is.
const Expr* root_expr_of(const Expr& address) {
  const auto* unary = std::get_if<ir::Unary>(&address.node);
  if (unary == nullptr || unary->op != ir::UnaryOp::address) return nullptr;
  const Expr* base = &address.operands[0];
  while (std::holds_alternative<ir::Index>(base->node)) base = &base->operands[0];
  return std::holds_alternative<ir::Name>(base->node) ? base : nullptr;
}

const std::string* root_of(const Expr& address) {
  const Expr* root = root_expr_of(address);
  return root == nullptr ? nullptr : &std::get<ir::Name>(root->node).name;
}

bool is_lookup_in_place(const Expr& expr) {
  const auto* call = std::get_if<ir::Call>(&expr.node);
  const auto function = call == nullptr ? std::nullopt : ir::lane_function(call->function);
  return function && function->op == ir::LaneOp::table;
}

/// Names in @p expr whose address is used, not only a scalar behind them.
void addresses_in(const Expr& expr, std::set<std::string>& names) {
  const Expr* base = &expr;
  int depth = 0;
  while (std::holds_alternative<ir::Index>(base->node)) {
    addresses_in(base->operands[1], names);
    base = &base->operands[0];
    ++depth;
  }
  if (const auto* name = std::get_if<ir::Name>(&base->node)) {
    if (base->type.depth() > depth || !base->type.is_known()) names.insert(name->name);
    return;
  }
  for (const Expr& operand : base->operands) addresses_in(operand, names);
}

std::set<std::string> addresses_in(const ir::FunctionDef& function) {
  std::set<std::string> names;
  struct Visitor {
    std::set<std::string>& names;
    void enter() {}
    void leave() {}
    void declare(const ir::Variable& /*variable*/) {}
    void expression(const Expr& expr) {
      std::set<const Expr*> in_place;
      ir::for_each_expr(expr, [this, &in_place](const Expr& part) {
        if (is_lookup_in_place(part)) in_place.insert(&part.operands[0]);
        const std::string* name = root_of(part);
        if (name != nullptr && !in_place.contains(&part)) names.insert(*name);
      });
      addresses_in(expr, names);
    }
  };
  Visitor visitor{names};
  ir::walk_scoped(function.body, visitor);
  return names;
}

/// Lanes look tables up where they are. Each lookup gets the name of one in the tables' space.
void look_up_in_place(const ir::KernelBody& body, ir::FunctionDef& function) {
  const auto is_table = [&body](const std::string& name) {
    return std::ranges::any_of(body.tables, [&name](const ir::Variable& table) {
      // functions have complex tables of their own
      return table.name == name && !ir::is_complex(table.type.base);
    });
  };
  ir::for_each_expr_in(function.body, [&is_table](Expr& expr) {
    auto* call = std::get_if<ir::Call>(&expr.node);
    auto lookup = call == nullptr ? std::nullopt : ir::lane_function(call->function);
    if (!lookup || lookup->op != ir::LaneOp::lookup) return;
    const std::string* name = root_of(expr.operands[0]);
    if (name == nullptr || !is_table(*name)) return;
    lookup->op = ir::LaneOp::table;
    call->function = ir::name_of(*lookup);
  });
}

/// A private copy of each table whose address @p function uses, but for lookups in place.
void copy_tables(const ir::KernelBody& body, ir::FunctionDef& function) {
  const std::set<std::string> addresses = addresses_in(function);
  std::set<const Expr*> in_place;
  ir::for_each_expr_in(function.body, [&in_place](const Expr& expr) {
    if (is_lookup_in_place(expr)) in_place.insert(root_expr_of(expr.operands[0]));
  });
  ir::Body copies;
  for (const ir::Variable& table : body.tables) {
    if (!addresses.contains(table.name)) continue;
    ir::Variable copy = table;
    copy.name += "_copy";
    ir::for_each_expr_in(function.body, [&](Expr& expr) {
      auto* name = std::get_if<ir::Name>(&expr.node);
      const bool is_used = name != nullptr && name->name == table.name && !in_place.contains(&expr);
      if (is_used) name->name = copy.name;
    });
    copies.push_back({ir::Declare{false, {std::move(copy)}}});
  }
  function.body.insert(function.body.begin(), copies.begin(), copies.end());
}

// ------------------------------------------------------------------------------------- expressions

Expr cast_to(const Type& type, Expr value) {
  Type target = type;
  target.is_const = false;
  const int line = value.line;
  return {ir::Cast{target}, {std::move(value)}, target, line};
}

bool has_base(const Expr& expr, Base base) {
  return expr.type.is_scalar() && expr.type.base == base;
}

/// What the user's C library calls become.
void rewrite_call(Expr& expr, const Dialect& dialect) {
  auto& call = std::get<ir::Call>(expr.node);
  const ir::KnownFunction* known = ir::known_function(call.function);
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
    expr.node = ir::Literal{function.name};
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
    if (std::holds_alternative<ir::InitList>(item.node)) {
      cast_items(item, scalar);
    } else if (!std::holds_alternative<ir::Literal>(item.node) && !has_base(item, scalar.base)) {
      item = cast_to(scalar, std::move(item));
    }
  }
}

/// `1LL` and `1.0L`: there may be no long long, and devices have no long double.
void shorten(ir::Literal& literal) {
  std::string& text = literal.spelling;
  if (!text.empty() && ir::is_long_double(text)) text.pop_back();
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
  void declare(ir::Variable& variable) const { initialiser(variable); }

  void initialiser(ir::Variable& variable) const {
    if (variable.value && std::holds_alternative<ir::InitList>(variable.value->node)) {
      Type item = variable.type;
      while (item.is_array()) item.derivation.erase(item.derivation.begin());
      if (dialect.is_cxx && item.is_scalar()) cast_items(*variable.value, item);
    }
  }

  void expression(Expr& expr) const {
    for (Expr& operand : expr.operands) expression(operand);
    if (auto* literal = std::get_if<ir::Literal>(&expr.node)) shorten(*literal);
    if (std::holds_alternative<ir::Call>(expr.node)) rewrite_call(expr, dialect);
  }
};

}  // namespace

ir::KernelBody adapted(ir::KernelBody body, const Dialect& dialect) {
  if (dialect.library == nullptr) return body;
  Renamer(body, dialect).run();
  if (dialect.has_constant_space) {
    for (ir::FunctionDef& function : body.functions) {
      look_up_in_place(body, function);
      copy_tables(body, function);
    }
  }
  Adaptor adaptor{dialect};
  for (ir::Variable& table : body.tables) {
    adaptor.initialiser(table);
    if (table.value) adaptor.expression(*table.value);
  }
  for (ir::FunctionDef& function : body.functions) ir::walk_scoped(function.body, adaptor);
  if (dialect.hides_ranges) hide_ranges(body);
  if (dialect.compares_conditions) spell_out_conditions(body);
  spell_out_complex(body, dialect.complex_by);
  return body;
}

}  // namespace op2::cg
