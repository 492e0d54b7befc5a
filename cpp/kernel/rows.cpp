// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/rows.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/overload.hpp"

namespace op2::kernel {
namespace {

/// One loop, its statements looked at in order.
class RowLoop {
 public:
  RowLoop(const Counted& counted, const Integers& known, std::int64_t most_own)
      : known_(known), most_own_(most_own) {
    slopes_[counted.name] = 1;
  }

  bool is_regular(const Body& body) {
    const bool is_fine = statements(body);
    const bool rereads = std::ranges::any_of(
        stored_, [this](const std::string& name) { return loaded_.contains(name); });
    return is_fine && !stored_.empty() && !rereads;
  }

 private:
  using Slope = std::optional<std::int64_t>;

  bool statements(const Body& body) {
    return std::ranges::all_of(body, [this](const Stmt& stmt) { return statement(stmt); });
  }

  bool statement(const Stmt& stmt) {
    return std::visit(
        overload{[this](const Declare& node) { return declare(node); },
                 [this](const Evaluate& node) { return value(node.value); },
                 [this](const Block& node) { return statements(node.body); },
                 [](const If&) { return false; }, [this](const For& node) { return inner(node); },
                 [](const While&) { return false; }, [](const Switch&) { return false; },
                 [](const Return&) { return false; }, [](const Break&) { return false; },
                 [](const Continue&) { return false; }},
        stmt.node);
  }

  bool declare(const Declare& node) {
    return !node.is_static && std::ranges::all_of(node.variables, [this](const Variable& variable) {
      if (!variable.type.is_scalar()) return false;
      own_.insert(variable.name);
      if (!variable.value) return !is_integer(variable.type.base);
      if (is_integer(variable.type.base)) {
        const Slope found = slope(*variable.value);
        if (!found) return false;
        slopes_[variable.name] = *found;
      }
      return value(*variable.value);
    });
  }

  /// A loop inside must run alike for each value of the outer one.
  bool inner(const For& node) {
    const auto found = counted(node, known_);
    if (!found) return false;
    slopes_[found->name] = 0;
    return statements(node.body);
  }

  /// Looks at what an expression loads and stores.
  bool value(const Expr& expr) {
    return std::visit(
        overload{[](const Literal&) { return true; }, [](const Name&) { return true; },
                 [this, &expr](const Unary& node) {
                   const bool is_arithmetic = node.op == UnaryOp::plus || node.op == UnaryOp::minus;
                   return is_arithmetic ? value(expr.operands[0]) : is_fixed(expr);
                 },
                 [this, &expr](const Binary& node) {
                   return node.op != BinaryOp::comma && value(expr.operands[0]) &&
                          value(expr.operands[1]);
                 },
                 [this, &expr](const Assign& node) {
                   return target(expr.operands[0], node.op.has_value()) && value(expr.operands[1]);
                 },
                 [](const Ternary&) { return false; },
                 [this, &expr](const Index&) {
                   const auto found = place(expr);
                   if (found) loaded_.insert(found->array->name);
                   return found && (found->slope == 0 || found->slope == 1);
                 },
                 [](const MemberOf&) { return false; }, [](const Call&) { return false; },
                 [this, &expr](const Cast&) { return value(expr.operands[0]); },
                 [](const SizeOf&) { return true; }, [](const InitList&) { return false; }},
        expr.node);
  }

  /// `*p`, where p is no variable of the loop.
  bool is_fixed(const Expr& expr) const {
    const auto* node = std::get_if<Unary>(&expr.node);
    if (node->op != UnaryOp::dereference) return false;
    const auto* name = std::get_if<Name>(&expr.operands[0].node);
    return name != nullptr && !slopes_.contains(name->name) && !own_.contains(name->name);
  }

  bool target(const Expr& expr, bool is_update) {
    if (const auto* name = std::get_if<Name>(&expr.node)) {
      return own_.contains(name->name) && !slopes_.contains(name->name);
    }
    const auto found = std::holds_alternative<Index>(expr.node) ? place(expr) : std::nullopt;
    if (!found || found->slope != 1) return false;
    stored_.insert(found->array->name);
    const bool is_own = found->type->is_array() && n_scalars(*found->type) <= most_own_;
    return is_own || !is_update;
  }

  struct Place {
    const Name* array;
    const Type* type;
    std::int64_t slope;  // values further on for the next value of the loop's variable
  };

  [[nodiscard]] std::optional<Place> place(const Expr& expr) const {
    const Slope last = slope(expr.operands[1]);
    if (!last) return std::nullopt;
    const Expr* array = &expr.operands[0];
    while (std::holds_alternative<Index>(array->node)) {
      if (slope(array->operands[1]) != 0) return std::nullopt;
      array = array->operands.data();
    }
    const auto* name = std::get_if<Name>(&array->node);
    if (name == nullptr) return std::nullopt;
    return Place{.array = name, .type = &array->type, .slope = *last};
  }

  /// By how much an integer grows when the loop's variable grows by one; nothing if it is not
  /// linear.
  [[nodiscard]] Slope slope(const Expr& expr) const {
    const auto of = [this, &expr](std::size_t i) { return slope(expr.operands[i]); };
    return std::visit(
        overload{[](const Literal&) { return Slope{0}; },
                 [this](const Name& node) {
                   const auto found = slopes_.find(node.name);
                   return Slope{found == slopes_.end() ? 0 : found->second};
                 },
                 [&of](const Unary& node) -> Slope {
                   const Slope inside = of(0);
                   if (node.op == UnaryOp::plus) return inside;
                   if (node.op == UnaryOp::minus && inside) return -*inside;
                   return std::nullopt;
                 },
                 [this, &expr, &of](const Binary& node) -> Slope {
                   const Slope left = of(0);
                   const Slope right = of(1);
                   if (!left || !right) return std::nullopt;
                   if (node.op == BinaryOp::add) return *left + *right;
                   if (node.op == BinaryOp::subtract) return *left - *right;
                   if (*left == 0 && *right == 0) return 0;
                   if (node.op != BinaryOp::multiply) return std::nullopt;
                   const auto factor = integer_value(expr.operands[*left == 0 ? 0 : 1], known_);
                   return factor ? Slope{*factor * (*left == 0 ? *right : *left)} : std::nullopt;
                 },
                 [](const Assign&) { return Slope{}; }, [](const Ternary&) { return Slope{}; },
                 [](const Index&) { return Slope{}; }, [](const MemberOf&) { return Slope{}; },
                 [](const Call&) { return Slope{}; },
                 [&expr, &of](const Cast&) { return is_integer(expr.type.base) ? of(0) : Slope{}; },
                 [](const SizeOf&) { return Slope{0}; }, [](const InitList&) { return Slope{}; }},
        expr.node);
  }

  const Integers& known_;
  std::int64_t most_own_;
  std::map<std::string, std::int64_t, std::less<>> slopes_;  // of integers of the loop
  std::set<std::string, std::less<>> own_;                   // variables declared in the loop
  std::set<std::string, std::less<>> stored_;                // arrays
  std::set<std::string, std::less<>> loaded_;
};

}  // namespace

bool runs_along_rows(const For& loop, const Integers& known, const RowLimits& limits) {
  const auto found = counted(loop, known);
  if (!found || found->stride != 1 || found->n < limits.steps) return false;
  return RowLoop(*found, known, limits.scalars).is_regular(loop.body);
}

bool has_inner_loop(const For& loop) {
  return std::ranges::any_of(
      loop.body, [](const Stmt& stmt) { return std::holds_alternative<For>(stmt.node); });
}

}  // namespace op2::kernel
