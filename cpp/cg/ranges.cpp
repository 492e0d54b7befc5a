// SPDX-License-Identifier: BSD-3-Clause
#include "cg/ranges.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/overload.hpp"
#include "kernel/integers.hpp"
#include "kernel/types.hpp"
#include "kernel/unique_names.hpp"
#include "kernel/walk.hpp"

namespace op2::cg {
namespace {

using kernel::BinaryOp;
using kernel::Expr;

constexpr std::array compared{BinaryOp::less,          BinaryOp::greater, BinaryOp::less_equal,
                              BinaryOp::greater_equal, BinaryOp::equal,   BinaryOp::not_equal};

bool compares(const Expr& expr) {
  const auto* node = std::get_if<kernel::Binary>(&expr.node);
  return node != nullptr && std::ranges::find(compared, node->op) != compared.end();
}

/// Whether @p expr is 0 or 1 by what it is.
bool is_truth(const Expr& expr) {
  if (compares(expr)) return true;
  if (const auto* node = std::get_if<kernel::Unary>(&expr.node)) {
    return node->op == kernel::UnaryOp::logical_not;
  }
  const auto* node = std::get_if<kernel::Binary>(&expr.node);
  return node != nullptr && (node->op == BinaryOp::logical_and || node->op == BinaryOp::logical_or);
}

/// Finds the numbers that are compared with constants, where that decides what runs next, and
/// bounds of loops that have a range.
class Finder {
 public:
  explicit Finder(kernel::KernelBody& body) : known_(kernel::constant_integers(body)) {
    for (kernel::FunctionDef& function : body.functions) {
      for (const kernel::Parameter& parameter : function.parameters) known_.erase(parameter.name);
      kernel::for_each_body(function.body, [this](kernel::Body& statements) {
        // a name that is a local's, too, is not followed
        for (const std::string& name : kernel::declared_names(statements)) known_.erase(name);
      });
    }
    for (kernel::FunctionDef& function : body.functions) {
      kernel::for_each_body(function.body, [this](kernel::Body& statements) {
        for (const kernel::Stmt& stmt : statements) add_counters(stmt);
      });
      kernel::for_each_body(function.body, [this](kernel::Body& statements) {
        for (kernel::Stmt& stmt : statements) statement(stmt);
      });
    }
  }

  /// What is inside of another one comes before it. One constant has but one other side.
  [[nodiscard]] std::vector<Expr*> found() const {
    std::vector<Expr*> all;
    for (const auto& [expr, is_sure] : noted_) {
      if (is_sure || constants_.size() > 1) all.push_back(expr);
    }
    return all;
  }

 private:
  void statement(kernel::Stmt& stmt) {
    std::visit(overload{
                   [this](kernel::Declare& node) {
                     for (kernel::Variable& variable : node.variables) {
                       if (variable.value) expression(*variable.value);
                     }
                   },
                   [this](kernel::Evaluate& node) { expression(node.value); },
                   [](kernel::Block&) {},
                   [this](kernel::If& node) {
                     expression(node.condition);
                     truth(node.condition);
                   },
                   [this](kernel::For& node) {
                     if (node.condition) bound(*node.condition);
                   },
                   [this](kernel::While& node) { bound(node.condition); },
                   [this](kernel::Switch& node) {
                     expression(node.value);
                     if (is_open(node.value)) noted_.emplace_back(&node.value, true);
                   },
                   [this](kernel::Return& node) {
                     if (node.value) expression(*node.value);
                   },
                   [](kernel::Break&) {},
                   [](kernel::Continue&) {},
               },
               stmt.node);
  }

  void expression(Expr& expr) {
    for (Expr& operand : expr.operands) expression(operand);
    if (compares(expr)) {
      for (const auto& [one, other] : {std::pair{0, 1}, std::pair{1, 0}}) {
        note(expr.operands[one], kernel::integer_value(expr.operands[other], known_));
      }
    } else if (std::holds_alternative<kernel::Ternary>(expr.node)) {
      truth(expr.operands[0]);
    } else if (is_truth(expr)) {
      for (Expr& operand : expr.operands) truth(operand);
    }
  }

  void add_counters(const kernel::Stmt& stmt) {
    const auto* loop = std::get_if<kernel::For>(&stmt.node);
    if (loop != nullptr) counters_.merge(kernel::declared_names(loop->init));
  }

  /// A bound that has a range, such as `n & 3`: LLVM repeats the body so often as it can be at
  /// most, and nothing follows the last time. What loops count, and numbers in memory, have none.
  void bound(Expr& condition) {
    if (!compares(condition)) return;
    for (Expr& operand : condition.operands) {
      if (is_open(operand) && has_range(operand)) noted_.emplace_back(&operand, true);
    }
  }

  [[nodiscard]] bool has_range(const Expr& expr) const {
    if (const auto* name = std::get_if<kernel::Name>(&expr.node)) {
      return !known_.contains(name->name) && !counters_.contains(name->name);
    }
    if (std::holds_alternative<kernel::Literal>(expr.node)) return false;
    if (std::holds_alternative<kernel::Index>(expr.node)) return false;
    const auto* node = std::get_if<kernel::Binary>(&expr.node);
    const bool is_sum =
        node != nullptr && (node->op == BinaryOp::add || node->op == BinaryOp::subtract ||
                            node->op == BinaryOp::multiply);
    if (!is_sum) return true;
    return std::ranges::any_of(expr.operands,
                               [this](const Expr& operand) { return has_range(operand); });
  }

  /// C asks whether a number is not 0.
  void truth(Expr& expr) {
    if (!is_truth(expr)) note(expr, 0);
  }

  void note(Expr& expr, const std::optional<std::int64_t>& constant) {
    if (!constant || is_truth(expr) || !is_open(expr)) return;
    noted_.emplace_back(&expr, false);
    constants_.insert(*constant);
  }

  /// Whether @p expr is an integer that is not known here.
  [[nodiscard]] bool is_open(const Expr& expr) const {
    if (!expr.type.is_scalar() || expr.type.lanes != 0 || !kernel::is_integer(expr.type.base)) {
      return false;
    }
    bool is = false;
    kernel::for_each_expr(expr, [&](const Expr& part) {
      const auto* name = std::get_if<kernel::Name>(&part.node);
      is |= name != nullptr && !known_.contains(name->name);
    });
    return is;
  }

  kernel::Integers known_;
  std::set<std::string> counters_;             ///< of loops
  std::vector<std::pair<Expr*, bool>> noted_;  ///< and whether it is hidden in any case
  std::set<std::int64_t> constants_;
};

}  // namespace

bool has_ranges_to_hide(const kernel::KernelBody& body) {
  kernel::KernelBody copy = body;
  return !Finder(copy).found().empty();
}

void hide_ranges(kernel::KernelBody& body) {
  // From inside out, so that what moves is changed already.
  for (Expr* expr : Finder(body).found()) {
    kernel::Type type = kernel::scalar(kernel::promoted(expr->type.base));
    const int line = expr->line;
    *expr = {kernel::Call{hides_range}, {std::move(*expr)}, std::move(type), line};
  }
}

}  // namespace op2::cg
