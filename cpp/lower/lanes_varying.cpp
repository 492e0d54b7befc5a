// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_varying.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/overload.hpp"
#include "kernel/effects.hpp"
#include "kernel/known_functions.hpp"

namespace op2::lower {
namespace {

using kernel::BinaryOp;
using kernel::Body;
using kernel::Expr;
using kernel::Stmt;
using kernel::UnaryOp;

bool is_pointer_like(const Expr& expr) {
  return !expr.type.derivation.empty();
}

bool is_lazy(BinaryOp op) {
  return op == BinaryOp::logical_and || op == BinaryOp::logical_or;
}

/// Walks one function until nothing more is found to vary.
class Walk {
 public:
  Walk(LaneInstances& instances, LaneInstance& in) : instances_(instances), in_(in) {}

  void run() {
    const auto& parameters = in_.function->parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      in_.depth[parameters[i].name] = parameters[i].type.derivation.empty() ? in_.base_depth() : 0;
      if (in_.varying_parameters[i]) in_.varying.insert(parameters[i].name);
      locals_.insert(parameters[i].name);
    }
    do {
      changed_ = false;
      body(in_.function->body, in_.base_depth());
    } while (changed_);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (in_.varying.contains(parameters[i].name)) in_.varying_parameters[i] = true;
    }
  }

 private:
  [[nodiscard]] bool varies(const Expr& expr) { return instances_.varies(in_, expr); }

  void raise(const std::string& name) {
    if (!locals_.contains(name)) {
      throw Refusal{fmt::format("a value that differs by element meets the table '{}'", name)};
    }
    changed_ |= in_.varying.insert(name).second;
  }

  void raise(const std::vector<std::string>& names) {
    for (const std::string& name : names) raise(name);
  }

  [[nodiscard]] bool any_varies(const std::vector<std::string>& names) const {
    return std::ranges::any_of(
        names, [this](const std::string& name) { return in_.varying.contains(name); });
  }

  void body(const Body& statements, int depth) {
    for (const Stmt& stmt : statements) statement(stmt, depth);
  }

  void statement(const Stmt& stmt, int depth) {
    at_line(stmt.line, [this, &stmt, depth] { follow(stmt, depth); });
  }

  void follow(const Stmt& stmt, int depth) {
    std::visit(
        overload{
            [this, depth](const kernel::Declare& node) {
              for (const kernel::Variable& variable : node.variables) declare(variable, depth);
            },
            [this, depth](const kernel::Evaluate& node) { expression(node.value, depth); },
            [this, depth](const kernel::Block& node) { body(node.body, depth); },
            [this, depth](const kernel::If& node) {
              expression(node.condition, depth);
              const int inner = depth + (varies(node.condition) ? 1 : 0);
              body(node.then_body, inner);
              body(node.else_body, inner);
            },
            [this, depth](const kernel::For& node) {
              body(node.init, depth);
              if (node.condition) test(*node.condition, depth);
              if (node.step) expression(*node.step, depth);
              loop(node.body, depth);
            },
            [this, depth](const kernel::While& node) {
              test(node.condition, depth);
              loop(node.body, depth);
            },
            [this, depth](const kernel::Switch& node) {
              expression(node.value, depth);
              if (varies(node.value)) {
                throw Refusal{"a switch on data has cases that run into each other"};
              }
              for (const kernel::Case& entry : node.cases) loop(entry.body, depth);
            },
            [this, depth](const kernel::Return& node) {
              if (depth > in_.base_depth()) {
                throw Refusal{"it returns from inside a loop or branch that depends on data"};
              }
              if (!node.value) return;
              expression(*node.value, depth);
              if (is_pointer_like(*node.value)) throw Refusal{"a function returns a pointer"};
              if (varies(*node.value) && !in_.result_varies) {
                in_.result_varies = changed_ = true;
              }
            },
            [this, depth](const kernel::Break&) { leave_loop(depth); },
            [this, depth](const kernel::Continue&) { leave_loop(depth); },
        },
        stmt.node);
  }

  void test(const Expr& condition, int depth) {
    expression(condition, depth);
    if (varies(condition)) throw Refusal{"how often a loop runs depends on data"};
  }

  void loop(const Body& statements, int depth) {
    const int outer = std::exchange(loop_depth_, depth);
    body(statements, depth);
    loop_depth_ = outer;
  }

  void leave_loop(int depth) const {
    if (depth > loop_depth_) throw Refusal{"a branch on data leaves a loop or an iteration"};
  }

  void declare(const kernel::Variable& variable, int depth) {
    if (holds_pointers(variable.type)) {
      throw Refusal{fmt::format("'{}' is an array of pointers, or points to some", variable.name)};
    }
    in_.depth[variable.name] = depth;
    locals_.insert(variable.name);
    if (!variable.value) return;
    expression(*variable.value, depth);
    if (variable.type.is_pointer()) {
      unify({variable.name}, roots_of(*variable.value));
    } else if (holds_varying(*variable.value)) {
      raise(variable.name);
    }
  }

  /// What such pointers lead to is not followed.
  static bool holds_pointers(const kernel::Type& type) {
    return type.depth() > 1 &&
           std::any_of(type.derivation.begin() + 1, type.derivation.end(),
                       [](const kernel::Derivation& derivation) {
                         return derivation.kind == kernel::Derivation::Kind::pointer;
                       });
  }

  bool holds_varying(const Expr& value) {
    if (std::holds_alternative<kernel::InitList>(value.node)) {
      return std::ranges::any_of(value.operands,
                                 [this](const Expr& item) { return holds_varying(item); });
    }
    return varies(value);
  }

  void unify(const std::vector<std::string>& left, const std::vector<std::string>& right) {
    if (any_varies(left)) raise(right);
    if (any_varies(right)) raise(left);
  }

  void store(const Expr& target, bool value_varies, int depth) {
    const bool is_merged = depth > depth_of_target(in_, target);
    const std::vector<std::string> roots = roots_of(target);
    if (is_pointer_like(target)) {
      if (is_merged) throw Refusal{"a pointer is assigned in a branch on data"};
      return;
    }
    if (is_merged) in_.merged.insert(roots.begin(), roots.end());
    if (is_merged || value_varies || subscript_varies(target)) raise(roots);
  }

  bool subscript_varies(const Expr& target) {
    if (!std::holds_alternative<kernel::Index>(target.node)) return false;
    return varies(target.operands[1]) || subscript_varies(target.operands[0]);
  }

  void expression(const Expr& expr, int depth) {
    if (std::holds_alternative<kernel::SizeOf>(expr.node)) return;
    if (std::holds_alternative<kernel::Ternary>(expr.node)) return choice(expr, depth);
    if (const auto* node = std::get_if<kernel::Binary>(&expr.node)) {
      return binary(node->op, expr, depth);
    }
    for (const Expr& operand : expr.operands) expression(operand, depth);
    if (std::holds_alternative<kernel::Assign>(expr.node)) assign(expr, depth);
    if (kernel::is_step(expr)) store(expr.operands[0], varies(expr.operands[0]), depth);
    if (const auto* node = std::get_if<kernel::Call>(&expr.node)) call(*node, expr, depth);
    if (const auto* node = std::get_if<kernel::Cast>(&expr.node)) cast(*node, expr);
  }

  void choice(const Expr& expr, int depth) {
    expression(expr.operands[0], depth);
    const bool on_data = varies(expr.operands[0]);
    if (on_data && is_pointer_like(expr)) throw Refusal{"a pointer depends on data"};
    for (std::size_t i = 1; i < 3; ++i) expression(expr.operands[i], depth + (on_data ? 1 : 0));
  }

  void binary(BinaryOp op, const Expr& expr, int depth) {
    expression(expr.operands[0], depth);
    const bool may_skip = is_lazy(op) && varies(expr.operands[0]);
    expression(expr.operands[1], depth + (may_skip ? 1 : 0));
    if (is_pointer_like(expr)) {
      for (const Expr& operand : expr.operands) {
        if (!is_pointer_like(operand) && varies(operand)) {
          throw Refusal{"where a pointer leads depends on data"};
        }
      }
    }
  }

  void assign(const Expr& expr, int depth) {
    const Expr& target = expr.operands[0];
    const Expr& value = expr.operands[1];
    if (is_pointer_like(target)) {
      const auto* node = std::get_if<kernel::Assign>(&expr.node);
      if (node->op && varies(value)) throw Refusal{"where a pointer leads depends on data"};
      store(target, false, depth);
      if (!node->op) unify(roots_of(target), roots_of(value));
      return;
    }
    store(target, varies(value), depth);
  }

  static void cast(const kernel::Cast& node, const Expr& expr) {
    if (node.target.derivation.empty()) return;
    const Expr& operand = expr.operands[0];
    if (operand.type.derivation.empty() || operand.type.base != node.target.base ||
        operand.type.depth() != node.target.depth()) {
      throw Refusal{"a pointer is cast to another type"};
    }
  }

  void call(const kernel::Call& node, const Expr& expr, int depth) {
    if (instances_.body().function(node.function) != nullptr) {
      const LaneInstance& callee = instances_.callee(in_, node, expr, depth > 0);
      for (std::size_t i = 0; i < expr.operands.size(); ++i) {
        if (!is_pointer_like(expr.operands[i]) || !callee.varying_parameters[i]) continue;
        raise(roots_of(expr.operands[i]));
        if (depth > 0) {
          const auto roots = roots_of(expr.operands[i]);
          in_.merged.insert(roots.begin(), roots.end());
        }
      }
      return;
    }
    const kernel::KnownFunction* known = kernel::known_function(node.function);
    if (known == nullptr) {
      throw Refusal{fmt::format("it calls '{}', which is not known", node.function)};
    }
    const bool has_pointers = std::ranges::any_of(
        known->parameters, [](const kernel::Type& type) { return type.is_pointer(); });
    if (has_pointers && (depth > 0 || touches_varying(expr))) {
      throw Refusal{fmt::format("it calls '{}' on values that differ by element", node.function)};
    }
  }

  bool touches_varying(const Expr& call) {
    return std::ranges::any_of(call.operands, [this](const Expr& operand) {
      return is_pointer_like(operand) ? any_varies(roots_of(operand)) : varies(operand);
    });
  }

  LaneInstances& instances_;
  LaneInstance& in_;
  std::set<std::string> locals_;
  bool changed_ = false;
  int loop_depth_ = 0;
};

}  // namespace

std::string Refusal::text() const {
  return line == 0 ? why : fmt::format("{} (line {} of the kernel)", why, line);
}

std::vector<std::string> roots_of(const Expr& expr) {
  return std::visit(
      overload{
          [](const kernel::Literal&) { return std::vector<std::string>{}; },
          [](const kernel::Name& node) { return std::vector<std::string>{node.name}; },
          [&expr](const kernel::Unary&) { return roots_of(expr.operands[0]); },
          [&expr](const kernel::Binary&) {
            const bool left = is_pointer_like(expr.operands[0]);
            return roots_of(expr.operands[left ? 0 : 1]);
          },
          [](const kernel::Assign&) { return std::vector<std::string>{}; },
          [&expr](const kernel::Ternary&) {
            std::vector<std::string> roots = roots_of(expr.operands[1]);
            const std::vector<std::string> others = roots_of(expr.operands[2]);
            roots.insert(roots.end(), others.begin(), others.end());
            return roots;
          },
          [&expr](const kernel::Index&) { return roots_of(expr.operands[0]); },
          [&expr](const kernel::MemberOf&) { return roots_of(expr.operands[0]); },
          [](const kernel::Call&) { return std::vector<std::string>{}; },
          [&expr](const kernel::Cast&) { return roots_of(expr.operands[0]); },
          [](const kernel::SizeOf&) { return std::vector<std::string>{}; },
          [](const kernel::InitList&) { return std::vector<std::string>{}; },
      },
      expr.node);
}

int depth_of_target(const LaneInstance& in, const Expr& target) {
  const Expr* at = &target;
  while (std::holds_alternative<kernel::Index>(at->node)) {
    at = &at->operands[0];
    if (at->type.is_pointer()) return 0;
  }
  const auto* name = std::get_if<kernel::Name>(&at->node);
  if (name == nullptr) return 0;
  const auto found = in.depth.find(name->name);
  return found == in.depth.end() ? 0 : found->second;
}

const LaneInstance& LaneInstances::of(const std::string& function,
                                      const std::vector<bool>& varying_parameters, bool masked) {
  for (const Entry& entry : entries_) {
    if (entry.instance.function->name == function && entry.asked == varying_parameters &&
        entry.masked == masked) {
      return entry.instance;
    }
  }
  LaneInstance made;
  made.function = body_.function(function);
  made.varying_parameters = varying_parameters;
  made.masked = masked;
  Walk(*this, made).run();
  entries_.push_back({varying_parameters, masked, std::move(made)});
  return entries_.back().instance;
}

const LaneInstance& LaneInstances::callee(const LaneInstance& caller, const kernel::Call& call,
                                          const Expr& expr, bool masked) {
  std::vector<bool> flags;
  for (const Expr& operand : expr.operands) {
    const std::vector<std::string> roots = roots_of(operand);
    flags.push_back(is_pointer_like(operand)
                        ? std::ranges::any_of(roots,
                                              [&caller](const std::string& root) {
                                                return caller.varying.contains(root);
                                              })
                        : varies(caller, operand));
  }
  // Stored-through parameters of one set of flags may need more flags: ask again with those.
  const LaneInstance& first = of(call.function, flags, masked);
  return first.varying_parameters == flags ? first
                                           : of(call.function, first.varying_parameters, masked);
}

bool LaneInstances::varies(const LaneInstance& in, const Expr& expr) {
  const auto root_varies = [&in](const Expr& pointer) {
    return std::ranges::any_of(
        roots_of(pointer), [&in](const std::string& root) { return in.varying.contains(root); });
  };
  const auto any_operand = [this, &in, &expr] {
    return std::ranges::any_of(expr.operands, [this, &in](const Expr& operand) {
      return operand.type.derivation.empty() && varies(in, operand);
    });
  };
  if (!expr.type.derivation.empty()) return false;
  return std::visit(overload{
                        [](const kernel::Literal&) { return false; },
                        [&in](const kernel::Name& node) { return in.varying.contains(node.name); },
                        [&](const kernel::Unary& node) {
                          if (node.op == UnaryOp::dereference) return root_varies(expr.operands[0]);
                          return any_operand();
                        },
                        [&](const kernel::Binary&) { return any_operand(); },
                        [](const kernel::Assign&) { return false; },
                        [&](const kernel::Ternary&) { return any_operand(); },
                        [&](const kernel::Index&) {
                          const Expr* at = &expr;
                          while (std::holds_alternative<kernel::Index>(at->node)) {
                            if (varies(in, at->operands[1])) return true;
                            at = &at->operands[0];
                          }
                          return root_varies(*at);
                        },
                        [&](const kernel::MemberOf&) { return root_varies(expr.operands[0]); },
                        [&](const kernel::Call& node) {
                          if (body_.function(node.function) != nullptr) {
                            return callee(in, node, expr, false).result_varies;
                          }
                          return any_operand();
                        },
                        [&](const kernel::Cast&) { return any_operand(); },
                        [](const kernel::SizeOf&) { return false; },
                        [](const kernel::InitList&) { return false; },
                    },
                    expr.node);
}

}  // namespace op2::lower
