// SPDX-License-Identifier: BSD-3-Clause
#include "cg/complex_effects.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/overload.hpp"
#include "kernel/effects.hpp"
#include "kernel/fresh_names.hpp"
#include "kernel/types.hpp"
#include "kernel/walk.hpp"

namespace op2::cg {
namespace {

using kernel::Base;
using kernel::BinaryOp;
using kernel::Expr;
using kernel::Type;
using kernel::UnaryOp;

/// What nobody asks for the value of: counting after or before is then the same.
void discard(Expr& expr) {
  auto* unary = std::get_if<kernel::Unary>(&expr.node);
  const auto* binary = std::get_if<kernel::Binary>(&expr.node);
  if (unary != nullptr && is_complex(expr)) {
    if (kernel::is_step(unary->op)) unary->op = kernel::without_value(unary->op);
  } else if (binary != nullptr && binary->op == BinaryOp::comma) {
    discard(expr.operands[1]);
  }
}

class EffectRewriter {
 public:
  explicit EffectRewriter(const kernel::KernelBody& body) : taken_(kernel::names_in(body)) {}

  void enter() {}
  void leave() {}
  void declare(const kernel::Variable& /*variable*/) {}
  void expression(Expr& expr) {
    const auto* binary = std::get_if<kernel::Binary>(&expr.node);
    if (binary != nullptr && binary->op == BinaryOp::comma) discard(expr.operands[0]);
    for (Expr& operand : expr.operands) expression(operand);
    const auto* unary = std::get_if<kernel::Unary>(&expr.node);
    if (unary != nullptr && kernel::is_step(unary->op) && is_complex(expr.operands[0])) {
      count(unary->op, expr);
    } else if (std::holds_alternative<kernel::Assign>(expr.node)) {
      assign(expr);
    }
  }

  /// The locals that expressions now need, as declarations.
  [[nodiscard]] kernel::Body locals() && { return std::move(locals_); }

 private:
  void count(UnaryOp op, Expr& expr) {
    const int line = expr.line;
    std::vector<Expr> steps;
    const Expr target = found_once(std::move(expr.operands[0]), steps);
    const Type type = kernel::scalar(target.type.base);
    const auto assigned = [&type, line](Expr left, Expr right, kernel::Assign how) -> Expr {
      return {std::move(how), {std::move(left), std::move(right)}, type, line};
    };
    const Expr one{kernel::Literal{"1"}, {}, kernel::scalar(Base::int32), line};
    const auto by_one =
        assigned(target, one, {kernel::is_up(op) ? BinaryOp::add : BinaryOp::subtract});
    if (kernel::is_post_step(op)) {
      const Expr before = local("before", type, line);
      steps.push_back(assigned(before, target, {}));
      steps.push_back(by_one);
      steps.push_back(before);
    } else {
      steps.push_back(by_one);
    }
    expr = in_order(std::move(steps));
  }

  void assign(Expr& expr) {
    const bool is_simple = !std::get<kernel::Assign>(expr.node).op;
    const bool is_known = expr.operands[0].type.is_known();  // else the compiler tells
    if (is_simple || !is_known || !any_complex(expr.operands)) return;
    std::vector<Expr> steps;
    expr.operands[0] = found_once(std::move(expr.operands[0]), steps);
    steps.push_back(std::move(expr));
    expr = in_order(std::move(steps));
  }

  /// @p target, or what a local points to, which one of @p steps then sets.
  Expr found_once(Expr target, std::vector<Expr>& steps) {
    if (kernel::has_no_effect(target)) return target;
    const int line = target.line;
    const Type type = kernel::scalar(target.type.base);
    const Type pointer = kernel::pointer_to(type);
    const Expr place = local("place", pointer, line);
    const auto* unary = std::get_if<kernel::Unary>(&target.node);
    const bool is_behind = unary != nullptr && unary->op == UnaryOp::dereference;
    Expr address = is_behind ? Expr(target.operands[0])
                             : Expr{kernel::Unary{UnaryOp::address}, {target}, pointer, line};
    steps.push_back({kernel::Assign{}, {place, std::move(address)}, pointer, line});
    return {kernel::Unary{UnaryOp::dereference}, {place}, type, line};
  }

  static Expr in_order(std::vector<Expr> steps) {
    Expr all = std::move(steps.front());
    for (std::size_t i = 1; i < steps.size(); ++i) {
      const Type type = steps[i].type;
      const int line = all.line;
      all = {kernel::Binary{BinaryOp::comma}, {std::move(all), std::move(steps[i])}, type, line};
    }
    return all;
  }

  Expr local(const std::string& stem, const Type& type, int line) {
    std::string name = stem;
    for (int i = 2; !taken_.insert(name).second; ++i) name = stem + std::to_string(i);
    locals_.push_back({kernel::Declare{false, {{name, type, {}, line}}}, line});
    return {kernel::Name{std::move(name)}, {}, type, line};
  }

  kernel::NameSet taken_;  // names that mean something in the function
  kernel::Body locals_;
};

void discard_values(kernel::Body& body) {
  kernel::for_each_body(body, [](kernel::Body& statements) {
    for (kernel::Stmt& stmt : statements) {
      if (auto* node = std::get_if<kernel::Evaluate>(&stmt.node)) discard(node->value);
      auto* loop = std::get_if<kernel::For>(&stmt.node);
      if (loop != nullptr && loop->step) discard(*loop->step);
    }
  });
}

}  // namespace

bool is_complex(const Type& type) {
  return type.is_scalar() && kernel::is_complex(type.base) && type.lanes == 0;
}
bool is_complex(const Expr& expr) {
  return is_complex(expr.type);
}
bool any_complex(const std::vector<Expr>& operands) {
  return std::ranges::any_of(operands, [](const Expr& operand) { return is_complex(operand); });
}

void spell_out_effects(kernel::KernelBody& body) {
  for (kernel::FunctionDef& function : body.functions) {
    discard_values(function.body);
    EffectRewriter rewriter(body);
    kernel::walk_scoped(function.body, rewriter);
    const kernel::Body locals = std::move(rewriter).locals();
    function.body.insert(function.body.begin(), locals.begin(), locals.end());
  }
}

}  // namespace op2::cg
