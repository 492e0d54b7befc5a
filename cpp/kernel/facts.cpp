// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/facts.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "kernel/aliases.hpp"
#include "kernel/constants.hpp"
#include "kernel/cost.hpp"
#include "kernel/known_functions.hpp"
#include "kernel/unique_names.hpp"
#include "kernel/updates.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

using AllFacts = std::map<std::string, std::vector<ParameterFacts>, std::less<>>;

bool is_scalar_place(const Expr& expr) {
  const bool is_element = std::holds_alternative<Index>(expr.node) ||
                          (std::holds_alternative<Unary>(expr.node) &&
                           std::get<Unary>(expr.node).op == UnaryOp::dereference);
  return is_element && !expr.type.is_array();
}

void note(ParameterFacts& facts, Use use, int line) {
  int& first = facts.lines[static_cast<std::size_t>(use)];
  if (first == 0 || line < first) first = line;
}

// Walks one function and notes what happens to the memory behind its parameters.
class UseWalk {
 public:
  UseWalk(const FunctionDef& function, const AllFacts& callees)
      : callees_(callees), aliases_(function), facts_(function.parameters.size()) {
    statements(function.body);
  }

  [[nodiscard]] const std::vector<ParameterFacts>& facts() const { return facts_; }
  [[nodiscard]] const std::set<std::string>& unknown() const { return unknown_; }

 private:
  void statements(const Body& body) {
    for (const Stmt& stmt : body) statement(stmt);
  }

  void statement(const Stmt& stmt) {
    std::visit(overload{[this](const Declare& node) {
                          for (const Variable& variable : node.variables) value(variable.value);
                        },
                        [this](const Evaluate& node) { value(node.value, false); },
                        [this](const Block& node) { statements(node.body); },
                        [this](const If& node) { branch(node); },
                        [this](const For& node) {
                          statements(node.init);
                          value(node.condition);
                          if (node.step) value(*node.step, false);
                          statements(node.body);
                        },
                        [this](const While& node) {
                          value(node.condition, true);
                          statements(node.body);
                        },
                        [this](const Switch& node) {
                          value(node.value, true);
                          for (const Case& entry : node.cases) statements(entry.body);
                        },
                        [this](const Return& node) { value(node.value); }, [](const Break&) {},
                        [](const Continue&) {}},
               stmt.node);
  }

  void branch(const If& node) {
    if (const auto found = update_of(node)) {
      update(*found, node.condition.line, false);
      return;
    }
    value(node.condition, true);
    statements(node.then_body);
    statements(node.else_body);
  }

  void note_all(const ParameterSet& parameters, Use use, int line) {
    for (const int i : parameters) note(facts_[static_cast<std::size_t>(i)], use, line);
  }

  void value(const std::optional<Expr>& expr) {
    if (expr) value(*expr, true);
  }

  // An expression that is evaluated, and whose value is used or dropped.
  void value(const Expr& expr, bool is_used) {
    if (const auto found = update_of(expr); found && is_scalar_place(*found->target)) {
      update(*found, expr.line, is_used);
      return;
    }
    std::visit(
        overload{[](const Literal&) {}, [](const Name&) {},
                 [this, &expr](const Unary& node) { unary(node.op, expr); },
                 [this, &expr, is_used](const Binary& node) {
                   value(expr.operands[0], node.op != BinaryOp::comma);
                   value(expr.operands[1], node.op != BinaryOp::comma || is_used);
                 },
                 [this, &expr, is_used](const Assign& node) { assignment(node, expr, is_used); },
                 [this, &expr](const Ternary&) { operands(expr); },
                 [this, &expr](const Index&) {
                   place(expr);
                   if (is_scalar_place(expr)) note_all(aliases_.of(expr), Use::load, expr.line);
                 },
                 [this, &expr](const MemberOf&) { operands(expr); },
                 [this, &expr](const Call& node) { call(node, expr); },
                 [this, &expr](const Cast& node) {
                   operands(expr);
                   const bool loses_track =
                       node.target.derivation.empty() && node.target.base != Base::none;
                   if (loses_track && !expr.operands[0].type.derivation.empty()) {
                     lose(expr.operands[0]);
                   }
                 },
                 [](const SizeOf&) {}, [this, &expr](const InitList&) { operands(expr); }},
        expr.node);
  }

  void operands(const Expr& expr) {
    for (const Expr& operand : expr.operands) value(operand, true);
  }

  // The parts of an lvalue that are evaluated to find it; the place itself is not touched.
  void place(const Expr& expr) {
    if (std::holds_alternative<Index>(expr.node)) {
      value(expr.operands[0], true);
      value(expr.operands[1], true);
    } else if (std::holds_alternative<Unary>(expr.node)) {
      value(expr.operands[0], true);
    }
  }

  void unary(UnaryOp op, const Expr& expr) {
    const Expr& operand = expr.operands[0];
    if (op == UnaryOp::address) {
      place(operand);
      return;
    }
    value(operand, true);
    if (op == UnaryOp::dereference && is_scalar_place(expr)) {
      note_all(aliases_.of(expr), Use::load, expr.line);
    }
  }

  void assignment(const Assign& node, const Expr& expr, bool is_used) {
    const Expr& target = expr.operands[0];
    place(target);
    value(expr.operands[1], true);
    if (!is_scalar_place(target)) return;
    const ParameterSet parameters = aliases_.of(target);
    if (node.op || is_used) note_all(parameters, Use::load, expr.line);
    note_all(parameters, Use::store, expr.line);
  }

  void update(const Update& found, int line, bool is_used) {
    place(*found.target);
    for (const Expr* part : found.values) value(*part, true);
    if (!is_scalar_place(*found.target)) return;
    const ParameterSet parameters = aliases_.of(*found.target);
    note_all(parameters, found.use, line);
    if (is_used) note_all(parameters, Use::load, line);
  }

  void lose(const Expr& pointer) {
    note_all(aliases_.of(pointer), Use::load, pointer.line);
    note_all(aliases_.of(pointer), Use::store, pointer.line);
  }

  void call(const Call& node, const Expr& expr) {
    operands(expr);
    if (const auto found = callees_.find(node.function); found != callees_.end()) {
      for (std::size_t i = 0; i < expr.operands.size() && i < found->second.size(); ++i) {
        merge(found->second[i], aliases_.of(expr.operands[i]));
      }
      return;
    }
    const KnownFunction* known = known_function(node.function);
    if (known == nullptr) unknown_.insert(node.function);
    for (std::size_t i = 0; i < expr.operands.size(); ++i) {
      const Expr& argument = expr.operands[i];
      const bool points = !argument.type.derivation.empty() || !argument.type.is_known();
      if (!points) continue;
      if (known == nullptr || i >= known->parameters.size()) {
        lose(argument);
      } else {
        note_all(aliases_.of(argument), known->writes(i) ? Use::store : Use::load, expr.line);
      }
    }
  }

  void merge(const ParameterFacts& callee, const ParameterSet& parameters) {
    for (std::size_t use = 0; use < n_uses; ++use) {
      if (callee.lines[use] == 0) continue;
      note_all(parameters, static_cast<Use>(use), callee.lines[use]);
    }
  }

  const AllFacts& callees_;
  Aliases aliases_;
  std::vector<ParameterFacts> facts_;
  std::set<std::string> unknown_;
};

int earliest(int left, int right) {
  if (left == 0 || right == 0) return std::max(left, right);
  return std::min(left, right);
}

std::optional<Use> own_update(Access access) {
  switch (access) {
    case Access::inc:
      return Use::increment;
    case Access::min:
      return Use::minimum;
    case Access::max:
      return Use::maximum;
    case Access::read:
    case Access::write:
    case Access::rw:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

bool ParameterFacts::is_read() const {
  return std::ranges::any_of(std::array{Use::load, Use::increment, Use::minimum, Use::maximum},
                             [this](Use use) { return line_of(use) != 0; });
}

bool ParameterFacts::is_written() const {
  return first_write_line() != 0;
}

int ParameterFacts::first_write_line() const {
  int first = 0;
  for (const Use use : {Use::store, Use::increment, Use::minimum, Use::maximum}) {
    first = earliest(first, line_of(use));
  }
  return first;
}

int ParameterFacts::foreign_read_line(Access access) const {
  const std::optional<Use> own = own_update(access);
  int first = line_of(Use::load);
  for (const Use use : {Use::increment, Use::minimum, Use::maximum}) {
    if (use != own) first = earliest(first, line_of(use));
  }
  return first;
}

bool ParameterFacts::commutes(Access access) const {
  if (!is_written()) return true;
  return own_update(access) && line_of(Use::store) == 0 && foreign_read_line(access) == 0;
}

namespace {

KernelFacts facts_of(const KernelBody& body, std::vector<LeftBehind> left) {
  KernelFacts facts;
  AllFacts by_function;
  std::set<std::string> unknown;
  for (const FunctionDef& function : body.functions) {
    const FunctionDef named = with_unique_names(function);
    const UseWalk walk(named, by_function);
    facts.parameters = walk.facts();
    unknown.insert(walk.unknown().begin(), walk.unknown().end());
    by_function[function.name] = facts.parameters;
  }
  for (std::size_t i = 0; i < left.size(); ++i) facts.parameters[i].left = std::move(left[i]);
  facts.unknown_functions.assign(unknown.begin(), unknown.end());
  facts.free_names = free_names(body);
  const Work work = work_of(body, {.steps = 1});
  facts.n_operations = work.n_operations;
  facts.has_open_loops = work.is_open;
  facts.float_bytes = work.float_bytes;
  return facts;
}

}  // namespace

KernelFacts kernel_facts(const KernelBody& body) {
  return facts_of(body, left_behind(body));
}

const KernelFacts& kernel_facts(const Kernel& kernel) {
  return kernel.facts.get([&kernel] { return facts_of(*kernel.body, left_behind(kernel)); });
}

}  // namespace op2::kernel
