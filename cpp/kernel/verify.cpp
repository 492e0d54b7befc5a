// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "kernel/plain.hpp"
#include "kernel/types.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

using NamesMet = std::set<std::string, std::less<>>;

bool has_its_operands(const Expr& expr) {
  const std::size_t n = expr.operands.size();
  return std::visit(
      overload{[n](const Literal&) { return n == 0; }, [n](const Name&) { return n == 0; },
               [n](const Unary&) { return n == 1; }, [n](const Binary&) { return n == 2; },
               [n](const Assign&) { return n == 2; }, [n](const Ternary&) { return n == 3; },
               [n](const Index&) { return n == 2; }, [n](const MemberOf&) { return n == 1; },
               [](const Call&) { return true; }, [n](const Cast&) { return n == 1; },
               [n](const SizeOf& node) { return n == (node.target ? 0U : 1U); },
               [](const InitList&) { return true; }},
      expr.node);
}

// What is wrong in one function.
class TreeVerifier {
 public:
  TreeVerifier(const FunctionDef& function, KernelForm form) : function_(function), form_(form) {}

  void run() {
    names_.enter();
    for (const Parameter& parameter : function_.parameters) {
      declare(parameter.name, parameter.line);
    }
    for_each_body(function_.body, [this](const Body& body) {
      for (const Stmt& stmt : body) note_declared(stmt);
    });
    statements(function_.body);
  }

 private:
  [[noreturn]] void refuse(int line, std::string_view what) const {
    throw InternalError(
        fmt::format("kernel function '{}', line {}: {}", function_.name, line, what));
  }

  void declare(const std::string& name, int line) {
    names_.declare(name, true);
    if (form_ >= KernelForm::named && !once_.insert(name).second) {
      refuse(line, fmt::format("'{}' is declared twice", name));
    }
  }

  void note_declared(const Stmt& stmt) {
    const auto* node = std::get_if<Declare>(&stmt.node);
    if (node == nullptr) return;
    for (const Variable& variable : node->variables) declared_.insert(variable.name);
  }

  void nested(const Body& body) {
    names_.enter();
    statements(body);
    names_.leave();
  }

  void statements(const Body& body) {
    for (const Stmt& stmt : body) statement(stmt);
  }

  void statement(const Stmt& stmt) {
    const int line = stmt.line;
    std::visit(overload{[&](const Declare& node) { declaration(node, line); },
                        [&](const Evaluate& node) { rooted(node.value, is_plain_effect, line); },
                        [&](const Block& node) { nested(node.body); },
                        [&](const If& node) {
                          rooted(node.condition, is_plain_value, line);
                          nested(node.then_body);
                          nested(node.else_body);
                        },
                        [&](const For& node) { loop(node, line); },
                        [&](const While& node) {
                          rooted(node.condition, is_plain_value, line);
                          nested(node.body);
                        },
                        [&](const Switch& node) { choice(node, line); },
                        [&](const Return& node) {
                          if (node.value) rooted(*node.value, is_plain_result, line);
                        },
                        [](const Break&) {}, [](const Continue&) {}},
               stmt.node);
  }

  void declaration(const Declare& node, int line) {
    for (const Variable& variable : node.variables) {
      declare(variable.name, line);
      if (variable.value) rooted(*variable.value, is_plain_initialiser, line);
    }
  }

  void loop(const For& node, int line) {
    names_.enter();
    for (const Stmt& stmt : node.init) {
      const auto* start = std::get_if<Evaluate>(&stmt.node);
      if (start != nullptr) {
        rooted(start->value, is_plain_head, line);
      } else if (std::holds_alternative<Declare>(stmt.node)) {
        statement(stmt);
      } else {
        refuse(line, "a loop begins with neither a declaration nor an expression");
      }
    }
    if (node.condition) rooted(*node.condition, is_plain_value, line);
    if (node.step) rooted(*node.step, is_plain_head, line);
    nested(node.body);
    names_.leave();
  }

  void choice(const Switch& node, int line) {
    rooted(node.value, is_plain_value, line);
    names_.enter();
    for (const Case& entry : node.cases) {
      if (entry.label) rooted(*entry.label, is_plain_value, line);
      statements(entry.body);
    }
    names_.leave();
  }

  // A whole expression.
  void rooted(const Expr& expr, bool (*is_allowed)(const Expr&), int line) const {
    for_each_expr(expr, [&](const Expr& part) {
      if (!has_its_operands(part)) refuse(line, "a node has not the operands of its kind");
      const auto* name = std::get_if<Name>(&part.node);
      if (name == nullptr || form_ == KernelForm::user) return;
      if (declared_.contains(name->name) && names_.find(name->name) == nullptr) {
        refuse(line, fmt::format("'{}' is used where it is not visible", name->name));
      }
    });
    if (form_ == KernelForm::plain && !is_allowed(expr)) {
      refuse(line, "an expression has an effect");
    }
  }

  const FunctionDef& function_;
  KernelForm form_;
  ScopeStack<bool> names_;
  NamesMet once_;      // names met so far
  NamesMet declared_;  // all locals
};

// Where the first type is another one than infer_types() finds.
void verify_types(const KernelBody& body) {
  const KernelBody again = infer_types(body);
  if (again.tables != body.tables) {
    throw InternalError("kernel: types of the tables are not those of their expressions");
  }
  for (std::size_t i = 0; i < body.functions.size(); ++i) {
    if (again.functions[i] == body.functions[i]) continue;
    throw InternalError(
        fmt::format("kernel function '{}', line {}: types are not those of its expressions",
                    body.functions[i].name, body.functions[i].line));
  }
}

}  // namespace

void verify(const KernelBody& body, KernelForm form) {
  for (const FunctionDef& function : body.functions) TreeVerifier(function, form).run();
  verify_types(body);
}

}  // namespace op2::kernel
