// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/checked_addresses.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/overload.hpp"
#include "kernel/checked_pointers.hpp"
#include "kernel/make.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

/// Tells of a scalar's address, or of a pointer, whether it stays where pointers are followed.
class Followed {
 public:
  explicit Followed(const KernelBody& body) : body_(body) {}

  bool holds(const FunctionDef& function, const std::string& name) {
    const auto [known, is_new] = known_.emplace(std::pair(function.name, name), true);
    if (!is_new) return known->second;  // or it is being found out, where it adds nothing
    struct Expressions {
      Followed& self;
      Place at;
      bool result_is_used;
      bool fine = true;
      std::map<const Expr*, const Variable*> values = {};
      void enter() {}
      void leave() {}
      void declare(const Variable& variable) {
        if (variable.value) values.emplace(&*variable.value, &variable);
      }
      void expression(const Expr& expr) {
        const auto given = values.find(&expr);
        const bool is_held = given == values.end() ? !result_is_used
                                                   : self.keeps(at.function, given->second->name,
                                                                given->second->type);
        fine = fine && self.in(expr, is_held, at);
      }
    };
    Expressions expressions{*this, {function, name}, !function.result.derivation.empty()};
    walk_scoped(function.body, expressions);
    known->second = expressions.fine;
    return expressions.fine;
  }

 private:
  struct Place {
    const FunctionDef& function;
    const std::string& name;
  };

  bool keeps(const FunctionDef& function, const std::string& name, const Type& type) {
    return CheckedPointers::is_followed(type) && type.is_pointer() && holds(function, name);
  }

  /// @param[in] is_held Whoever gets the value of @p expr follows it.
  bool in(const Expr& expr, bool is_held, const Place& at) {
    const auto each = [&](bool operands_are_held) {
      bool fine = true;
      for (const Expr& operand : expr.operands) fine = fine && in(operand, operands_are_held, at);
      return fine;
    };
    return std::visit(
        overload{[](const Literal&) { return true; },
                 [&](const Name& node) {
                   return node.name != at.name || expr.type.is_scalar() || is_held;
                 },
                 [&](const Unary& node) {
                   return node.op == UnaryOp::address ? address(expr.operands[0], is_held, at)
                                                      : each(true);
                 },
                 [&](const Binary& node) {
                   if (node.op != BinaryOp::comma) {
                     return each(expr.type.derivation.empty() || is_held);
                   }
                   return in(expr.operands[0], true, at) && in(expr.operands[1], is_held, at);
                 },
                 [&](const Assign& node) {
                   const auto* target = std::get_if<Name>(&expr.operands[0].node);
                   const bool is_kept = node.op || expr.type.is_scalar() ||
                                        (target != nullptr && is_held &&
                                         keeps(at.function, target->name, expr.operands[0].type));
                   return in(expr.operands[0], true, at) && in(expr.operands[1], is_kept, at);
                 },
                 [&](const Ternary&) {
                   return in(expr.operands[0], true, at) && in(expr.operands[1], is_held, at) &&
                          in(expr.operands[2], is_held, at);
                 },
                 [&](const Index&) { return each(true); },
                 [&](const MemberOf&) { return each(false); },
                 [&](const Call& node) { return call(node, expr, at); },
                 [&](const Cast& node) {
                   return each(is_held && node.target.base == expr.operands[0].type.base);
                 },
                 [](const SizeOf&) { return true; }, [&](const InitList&) { return each(false); }},
        expr.node);
  }

  bool address(const Expr& of, bool is_held, const Place& at) {
    if (const auto* node = std::get_if<Name>(&of.node)) {
      return node->name != at.name || (is_held && of.type.is_scalar());
    }
    bool fine = true;
    for (const Expr& operand : of.operands) {
      fine = fine && in(operand, is_held || operand.type.is_scalar(), at);
    }
    return fine;
  }

  bool call(const Call& node, const Expr& expr, const Place& at) {
    const FunctionDef* callee = body_.function(node.function);
    bool fine = true;
    for (std::size_t i = 0; i < expr.operands.size(); ++i) {
      const Parameter* parameter =
          callee == nullptr || i >= callee->parameters.size() ? nullptr : &callee->parameters[i];
      const bool is_held = callee == nullptr ||
                           (parameter != nullptr && CheckedPointers::is_followed(parameter->type) &&
                            holds(*callee, parameter->name));
      const Expr& operand = callee == nullptr ? without_casts(expr.operands[i]) : expr.operands[i];
      fine = fine && in(operand, is_held, at);
    }
    return fine;
  }

  const KernelBody& body_;
  std::map<std::pair<std::string, std::string>, bool> known_;  // by function and name
};

/// Scalars without a value whose address is taken.
std::set<std::string> addressed(const FunctionDef& function) {
  const std::set<std::string> bare = scalars_without_value(function);
  std::set<std::string> found;
  for_each_expr_in(function.body, [&](const Expr& expr) {
    const auto* unary = std::get_if<Unary>(&expr.node);
    if (unary == nullptr || unary->op != UnaryOp::address) return;
    const auto* name = std::get_if<Name>(&expr.operands[0].node);
    if (name != nullptr && bare.contains(name->name)) found.insert(name->name);
  });
  return found;
}

void make_arrays(FunctionDef& function, const std::set<std::string>& names) {
  struct Maker {
    const std::set<std::string>& names;
    void enter() {}
    void leave() {}
    void declare(Variable& variable) {
      if (names.contains(variable.name)) variable.type = array(variable.type);
    }
    void expression(Expr& expr) {
      for (Expr& operand : expr.operands) expression(operand);
      const auto* name = std::get_if<Name>(&expr.node);
      if (name == nullptr || !names.contains(name->name)) return;
      Expr whole = expr;
      whole.type = array(expr.type);
      Expr first = make::index(std::move(whole), make::number(0));
      first.type = expr.type;
      expr = std::move(first);
    }
    static Type array(Type of) {
      of.derivation = {{.kind = Derivation::Kind::array, .extent = 1}};
      return of;
    }
  };
  Maker maker{names};
  walk_scoped(function.body, maker);
}

}  // namespace

std::set<std::string> scalars_without_value(const FunctionDef& function) {
  struct Locals {
    std::set<std::string> bare = {};
    void enter() {}
    void leave() {}
    void expression(const Expr& /*expr*/) {}
    void declare(const Variable& variable) {
      if (!variable.value && variable.type.is_scalar()) bare.insert(variable.name);
    }
  };
  Locals locals;
  walk_scoped(function.body, locals);
  return std::move(locals.bare);
}

KernelBody with_addressed_arrays(KernelBody named) {
  Followed followed(named);
  std::map<std::string, std::set<std::string>> made;
  for (const FunctionDef& function : named.functions) {
    for (const std::string& name : addressed(function)) {
      if (followed.holds(function, name)) made[function.name].insert(name);
    }
  }
  for (FunctionDef& function : named.functions) {
    if (const auto names = made.find(function.name); names != made.end()) {
      make_arrays(function, names->second);
    }
  }
  return named;
}

const Expr& without_casts(const Expr& pointer) {
  const auto* cast = std::get_if<Cast>(&pointer.node);
  const bool is_of_pointers = cast != nullptr && !cast->target.derivation.empty() &&
                              !pointer.operands[0].type.derivation.empty();
  return is_of_pointers ? without_casts(pointer.operands[0]) : pointer;
}

}  // namespace op2::kernel
