// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/overload.hpp"
#include "kernel/body.hpp"

namespace op2::kernel {

/// @brief Names in nested scopes; an inner declaration hides an outer one. The time of a search
/// does not grow with the number of names: written programs declare thousands in one function.
template <class Value>
class ScopeStack {
 public:
  ScopeStack() = default;
  ScopeStack(const ScopeStack&) = delete;
  ScopeStack& operator=(const ScopeStack&) = delete;
  ScopeStack(ScopeStack&&) = default;
  ScopeStack& operator=(ScopeStack&&) = default;
  ~ScopeStack() = default;

  void enter() { marks_.push_back(entries_.size()); }
  void leave() {
    for (; entries_.size() > marks_.back(); entries_.pop_back()) entries_.back().places->pop_back();
    marks_.pop_back();
  }
  void declare(std::string name, Value value) {
    Places& places = by_name_[std::move(name)];
    places.push_back(entries_.size());
    entries_.push_back({&places, std::move(value)});
  }
  /// @return The innermost declaration of @p name, or nullptr.
  [[nodiscard]] const Value* find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() || found->second.empty() ? nullptr
                                                            : &entries_[found->second.back()].value;
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>()(name);
    }
  };
  using Places = std::vector<std::size_t>;
  struct Entry {
    Places* places;  // in by_name_, whose nodes stay where they are
    Value value;
  };

  std::unordered_map<std::string, Places, Hash, std::equal_to<>> by_name_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> marks_;
};

/// @brief @p Target with the constness of @p Source.
template <class Source, class Target>
using copy_const_t = std::conditional_t<std::is_const_v<Source>, const Target, Target>;

/// @brief Walk a body in the order of its text, telling @p visitor of scopes, names and values.
///
/// The visitor has `enter()`, `leave()`, `declare(Variable&)`, `expression(Expr&)`, the last for
/// whole expressions (not their operands). As in C, a name is visible in its own initialiser.
template <class AnyBody, class Visitor>
requires std::same_as<std::remove_const_t<AnyBody>, Body>
void walk_scoped(AnyBody& body, Visitor& visitor);

namespace detail {

template <class AnyExpr, class Visitor>
void walk_optional(AnyExpr& value, Visitor& visitor) {
  if (value) visitor.expression(*value);
}

template <class AnyBody, class Visitor>
void walk_nested(AnyBody& body, Visitor& visitor) {
  visitor.enter();
  walk_scoped(body, visitor);
  visitor.leave();
}

template <class AnyStmt, class Visitor>
void walk_statement(AnyStmt& stmt, Visitor& visitor) {
  using S = AnyStmt;
  std::visit(
      overload{[&visitor](copy_const_t<S, Declare>& node) {
                 for (auto& variable : node.variables) {
                   visitor.declare(variable);
                   walk_optional(variable.value, visitor);
                 }
               },
               [&visitor](copy_const_t<S, Evaluate>& node) { visitor.expression(node.value); },
               [&visitor](copy_const_t<S, Block>& node) { walk_nested(node.body, visitor); },
               [&visitor](copy_const_t<S, If>& node) {
                 visitor.expression(node.condition);
                 walk_nested(node.then_body, visitor);
                 walk_nested(node.else_body, visitor);
               },
               [&visitor](copy_const_t<S, For>& node) {
                 visitor.enter();
                 walk_scoped(node.init, visitor);
                 walk_optional(node.condition, visitor);
                 walk_optional(node.step, visitor);
                 walk_nested(node.body, visitor);
                 visitor.leave();
               },
               [&visitor](copy_const_t<S, While>& node) {
                 visitor.expression(node.condition);
                 walk_nested(node.body, visitor);
               },
               [&visitor](copy_const_t<S, Switch>& node) {
                 visitor.expression(node.value);
                 visitor.enter();
                 for (auto& entry : node.cases) {
                   walk_optional(entry.label, visitor);
                   walk_scoped(entry.body, visitor);
                 }
                 visitor.leave();
               },
               [&visitor](copy_const_t<S, Return>& node) { walk_optional(node.value, visitor); },
               [](copy_const_t<S, Break>&) {}, [](copy_const_t<S, Continue>&) {}},
      stmt.node);
}

}  // namespace detail

template <class AnyBody, class Visitor>
requires std::same_as<std::remove_const_t<AnyBody>, Body>
void walk_scoped(AnyBody& body, Visitor& visitor) {
  for (auto& stmt : body) detail::walk_statement(stmt, visitor);
}

/// @brief Call @p visit on @p expr and all its operands, outside in.
template <class AnyExpr, class Visit>
void for_each_expr(AnyExpr& expr, Visit&& visit) {
  visit(expr);
  for (auto& operand : expr.operands) for_each_expr(operand, visit);
}

/// @brief Call @p visit on every expression of @p body and on all their operands.
template <class AnyBody, class Visit>
void for_each_expr_in(AnyBody& body, Visit&& visit) {
  struct Visitor {
    Visit& visit;
    void enter() {}
    void leave() {}
    void declare(const Variable& /*variable*/) {}
    void expression(copy_const_t<AnyBody, Expr>& expr) { for_each_expr(expr, visit); }
  };
  Visitor visitor{visit};
  walk_scoped(body, visitor);
}

/// @brief Call @p visit on @p body and on the bodies of all statements inside, whole ones.
template <class AnyBody, class Visit>
void for_each_body(AnyBody& body, Visit&& visit) {
  visit(body);
  for (auto& stmt : body) {
    std::visit(
        overload{
            [](copy_const_t<AnyBody, Declare>&) {},
            [](copy_const_t<AnyBody, Evaluate>&) {},
            [&visit](copy_const_t<AnyBody, Block>& node) { for_each_body(node.body, visit); },
            [&visit](copy_const_t<AnyBody, If>& node) {
              for_each_body(node.then_body, visit);
              for_each_body(node.else_body, visit);
            },
            [&visit](copy_const_t<AnyBody, For>& node) {
              for_each_body(node.init, visit);
              for_each_body(node.body, visit);
            },
            [&visit](copy_const_t<AnyBody, While>& node) { for_each_body(node.body, visit); },
            [&visit](copy_const_t<AnyBody, Switch>& node) {
              for (auto& entry : node.cases) for_each_body(entry.body, visit);
            },
            [](copy_const_t<AnyBody, Return>&) {},
            [](copy_const_t<AnyBody, Break>&) {},
            [](copy_const_t<AnyBody, Continue>&) {},
        },
        stmt.node);
  }
}

}  // namespace op2::kernel
