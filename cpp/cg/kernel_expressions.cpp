// SPDX-License-Identifier: BSD-3-Clause
#include "cg/kernel_expressions.hpp"

#include <fmt/format.h>

#include <optional>
#include <variant>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "cg/lane_types.hpp"
#include "kernel/effects.hpp"

namespace op2::cg {
namespace {

using kernel::BinaryOp;
using kernel::Expr;
using kernel::Type;
using kernel::UnaryOp;

// How tightly an expression binds; C11 6.5, the tightest highest.
enum Precedence : int {
  comma_level = 1,
  assignment_level,
  ternary_level,
  logical_or_level,
  logical_and_level,
  bit_or_level,
  bit_xor_level,
  bit_and_level,
  equality_level,
  relational_level,
  shift_level,
  additive_level,
  multiplicative_level,
  unary_level,
  postfix_level,
  primary_level,
};

int level_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::multiply:
    case BinaryOp::divide:
    case BinaryOp::modulo:
      return multiplicative_level;
    case BinaryOp::add:
    case BinaryOp::subtract:
      return additive_level;
    case BinaryOp::shift_left:
    case BinaryOp::shift_right:
      return shift_level;
    case BinaryOp::less:
    case BinaryOp::greater:
    case BinaryOp::less_equal:
    case BinaryOp::greater_equal:
      return relational_level;
    case BinaryOp::equal:
    case BinaryOp::not_equal:
      return equality_level;
    case BinaryOp::bit_and:
      return bit_and_level;
    case BinaryOp::bit_xor:
      return bit_xor_level;
    case BinaryOp::bit_or:
      return bit_or_level;
    case BinaryOp::logical_and:
      return logical_and_level;
    case BinaryOp::logical_or:
      return logical_or_level;
    case BinaryOp::comma:
      return comma_level;
  }
  return comma_level;
}

// A vector made of a scalar or of another vector: C's casts between vectors only rename their bits.
bool is_to_lanes(const kernel::Cast& node) {
  return node.target.lanes > 0 && node.target.derivation.empty();
}

int level_of(const Expr& expr) {
  return std::visit(overload{
                        [](const kernel::Literal&) -> int { return primary_level; },
                        [](const kernel::Name&) -> int { return primary_level; },
                        [](const kernel::Unary& node) -> int {
                          return kernel::is_post_step(node.op) ? postfix_level : unary_level;
                        },
                        [](const kernel::Binary& node) -> int { return level_of(node.op); },
                        [](const kernel::Assign&) -> int { return assignment_level; },
                        [](const kernel::Ternary&) -> int { return ternary_level; },
                        [](const kernel::Index&) -> int { return postfix_level; },
                        [](const kernel::MemberOf&) -> int { return postfix_level; },
                        [](const kernel::Call&) -> int { return postfix_level; },
                        [](const kernel::Cast& node) -> int {
                          return is_to_lanes(node) ? primary_level : unary_level;
                        },
                        [](const kernel::SizeOf&) -> int { return unary_level; },
                        [](const kernel::InitList&) -> int { return primary_level; },
                    },
                    expr.node);
}

// Operators that compilers warn of when they are mixed without parentheses.
bool is_arithmetic(BinaryOp op) {
  const int level = level_of(op);
  return level == additive_level || level == multiplicative_level;
}

class ExpressionPrinter {
 public:
  ExpressionPrinter(const Dialect& dialect, const KernelStyle& style)
      : dialect_(dialect), style_(style) {}

  [[nodiscard]] std::string print(const Expr& expr) const {
    return std::visit(
        overload{
            [](const kernel::Literal& node) { return node.spelling; },
            [](const kernel::Name& node) { return node.name; },
            [this, &expr](const kernel::Unary& node) { return unary(node.op, expr.operands[0]); },
            [this, &expr](const kernel::Binary& node) { return binary(node.op, expr); },
            [this, &expr](const kernel::Assign& node) { return assign(node, expr); },
            [this, &expr](const kernel::Ternary&) {
              return fmt::format("{} ? {} : {}", at_least(expr.operands[0], logical_or_level),
                                 at_least(expr.operands[1], ternary_level),
                                 at_least(expr.operands[2], ternary_level));
            },
            [this, &expr](const kernel::Index&) {
              return fmt::format("{}[{}]", at_least(expr.operands[0], postfix_level),
                                 at_least(expr.operands[1], assignment_level));
            },
            [this, &expr](const kernel::MemberOf& node) {
              return fmt::format("{}.{}", at_least(expr.operands[0], postfix_level), node.name);
            },
            [this, &expr](const kernel::Call& node) {
              return fmt::format("{}({})", node.function, list(expr));
            },
            [this, &expr](const kernel::Cast& node) {
              if (is_to_lanes(node)) return lanes(node.target, expr.operands[0]);
              return fmt::format("({}){}", declaration_text(node.target, "", dialect_, style_),
                                 at_least(expr.operands[0], postfix_level));
            },
            [this, &expr](const kernel::SizeOf& node) {
              return fmt::format("sizeof({})",
                                 node.target ? declaration_text(*node.target, "", dialect_, style_)
                                             : print(expr.operands[0]));
            },
            [this, &expr](const kernel::InitList&) {
              // a scalar does not begin a vector
              if (expr.type.lanes > 0 && dialect_.has_vectors &&
                  !kernel::is_complex(expr.type.base)) {
                return fmt::format("{{{}}}", filled(expr.type, list(expr)));
              }
              return fmt::format("{{{}}}", list(expr));
            },
        },
        expr.node);
  }

  [[nodiscard]] std::string at_least(const Expr& expr, int level) const {
    return level_of(expr) < level ? fmt::format("({})", print(expr)) : print(expr);
  }

 private:
  [[nodiscard]] std::string lanes(const Type& target, const Expr& operand) const {
    const std::string type = declaration_text(target, "", dialect_, style_);
    if (operand.type.lanes > 0) {
      return fmt::format("__builtin_convertvector({}, {})", at_least(operand, assignment_level),
                         type);
    }
    if (dialect_.has_vectors) return filled(target, at_least(operand, assignment_level));
    // Minus zero keeps every value, also a negative zero.
    return fmt::format("({} - ({}){{0}})", at_least(operand, additive_level), type);
  }

  /// A vector of equal values, in languages that have vectors.
  [[nodiscard]] std::string filled(const Type& type, const std::string& value) const {
    return fmt::format("(({})({}))", declaration_text(type, "", dialect_, style_), value);
  }

  [[nodiscard]] std::string unary(UnaryOp op, const Expr& operand) const {
    const std::string_view sign = kernel::spelling_of(op);
    if (kernel::is_post_step(op))
      return fmt::format("{}{}", at_least(operand, postfix_level), sign);
    // `- -x` and `& &x` must not run together.
    const auto* inner = std::get_if<kernel::Unary>(&operand.node);
    const bool runs_together = inner != nullptr && !kernel::is_post_step(inner->op) &&
                               kernel::spelling_of(inner->op)[0] == sign[0];
    return fmt::format("{}{}", sign,
                       at_least(operand, runs_together ? primary_level : unary_level));
  }

  [[nodiscard]] std::string binary(BinaryOp op, const Expr& expr) const {
    const std::string left = side(op, expr.operands[0], level_of(op));
    const std::string right = side(op, expr.operands[1], level_of(op) + 1);
    if (op == BinaryOp::comma) return fmt::format("{}, {}", left, right);
    return fmt::format("{} {} {}", left, kernel::spelling_of(op), right);
  }

  [[nodiscard]] std::string side(BinaryOp op, const Expr& operand, int level) const {
    const auto* inner = std::get_if<kernel::Binary>(&operand.node);
    const bool is_mixed = inner != nullptr && inner->op != op && op != BinaryOp::comma &&
                          !is_arithmetic(op) && level_of(inner->op) < multiplicative_level;
    return at_least(operand, is_mixed ? primary_level : level);
  }

  [[nodiscard]] std::string assign(const kernel::Assign& node, const Expr& expr) const {
    return fmt::format("{} {}= {}", at_least(expr.operands[0], unary_level),
                       node.op ? kernel::spelling_of(*node.op) : "",
                       at_least(expr.operands[1], assignment_level));
  }

  [[nodiscard]] std::string list(const Expr& expr) const {
    std::string text;
    for (const Expr& operand : expr.operands) {
      if (!text.empty()) text += ", ";
      text += at_least(operand, assignment_level);
    }
    return text;
  }

  const Dialect& dialect_;
  const KernelStyle& style_;
};

std::string scalar_text(const Type& type, const Dialect& dialect, const KernelStyle& style) {
  const std::string_view outside = type.is_outside ? dialect.global : "";
  const std::string constness =
      fmt::format("{}{}{}{}", type.is_shared ? dialect.to_local : "", outside,
                  outside.empty() ? "" : " ", type.is_const ? "const " : "");
  if (type.base == kernel::Base::none) return constness + "void";
  const std::optional<DType> dtype = kernel::dtype_of(type.base);
  if (!dtype) throw InternalError("kernel: a type is printed that is not known");
  if (type.lanes > 0) return constness + vector_name(*dtype, type.lanes);
  if (type.base == kernel::Base::boolean) return fmt::format("{}{}", constness, style.boolean);
  return fmt::format("{}{}", constness, dialect.type_name(*dtype));
}

std::string declarator_text(const Type& type, std::string_view name, const Dialect& dialect) {
  std::string text(name);
  bool after_pointer = false;
  for (const kernel::Derivation& step : type.derivation) {
    const bool is_pointer = step.kind == kernel::Derivation::Kind::pointer;
    if (is_pointer) {
      std::string qualifiers = step.is_const ? "const " : "";
      if (step.is_restrict && !dialect.restrict_word.empty()) {
        qualifiers += fmt::format("{} ", dialect.restrict_word);
      }
      text = fmt::format("*{}{}", qualifiers, text);
    } else {
      if (after_pointer) text = fmt::format("({})", text);
      text += step.extent < 0 ? "[]" : fmt::format("[{}]", step.extent);
    }
    after_pointer = is_pointer;
  }
  return text;
}

}  // namespace

std::string declaration_text(const kernel::Type& type, std::string_view name,
                             const Dialect& dialect, const KernelStyle& style) {
  const std::string declarator = declarator_text(type, name, dialect);
  const std::string_view space = declarator.empty() ? "" : " ";
  return fmt::format("{}{}{}", scalar_text(type, dialect, style), space, declarator);
}

std::string expression_text(const kernel::Expr& expr, const Dialect& dialect,
                            const KernelStyle& style) {
  return ExpressionPrinter(dialect, style).print(expr);
}

std::string variables_text(const kernel::Declare& node, const Dialect& dialect,
                           const KernelStyle& style, std::string_view storage) {
  const ExpressionPrinter printer(dialect, style);
  if (storage.empty()) storage = dialect.table;
  std::string text = node.is_static ? fmt::format("{} ", storage) : "";
  text += scalar_text(node.variables.front().type, dialect, style);
  for (const kernel::Variable& variable : node.variables) {
    text += &variable == &node.variables.front() ? " " : ", ";
    text += declarator_text(variable.type, variable.name, dialect);
    if (variable.value) {
      text += fmt::format(" = {}", printer.at_least(*variable.value, assignment_level));
    }
  }
  return text;
}

std::string condition_text(const kernel::Expr& expr, const Dialect& dialect,
                           const KernelStyle& style) {
  return ExpressionPrinter(dialect, style).at_least(expr, ternary_level);
}

}  // namespace op2::cg
