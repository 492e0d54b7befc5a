// SPDX-License-Identifier: BSD-3-Clause
#include "cg/kernel_printer.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>
#include <variant>

#include "base/overload.hpp"
#include "ir/kernel_walk.hpp"
#include "ir/known_functions.hpp"

namespace op2::cg {
namespace {

using ir::BinaryOp;
using ir::Expr;
using ir::Type;
using ir::UnaryOp;

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

bool is_postfix(UnaryOp op) {
  return op == UnaryOp::post_increment || op == UnaryOp::post_decrement;
}

int level_of(const Expr& expr) {
  return std::visit(
      overload{
          [](const ir::Literal&) -> int { return primary_level; },
          [](const ir::Name&) -> int { return primary_level; },
          [](const ir::Unary& node) -> int {
            return is_postfix(node.op) ? postfix_level : unary_level;
          },
          [](const ir::Binary& node) -> int { return level_of(node.op); },
          [](const ir::Assign&) -> int { return assignment_level; },
          [](const ir::Ternary&) -> int { return ternary_level; },
          [](const ir::Index&) -> int { return postfix_level; },
          [](const ir::Call&) -> int { return postfix_level; },
          [](const ir::Cast&) -> int { return unary_level; },
          [](const ir::SizeOf&) -> int { return unary_level; },
          [](const ir::InitList&) -> int { return primary_level; },
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
            [](const ir::Literal& node) { return node.spelling; },
            [](const ir::Name& node) { return node.name; },
            [this, &expr](const ir::Unary& node) { return unary(node.op, expr.operands[0]); },
            [this, &expr](const ir::Binary& node) { return binary(node.op, expr); },
            [this, &expr](const ir::Assign& node) { return assign(node, expr); },
            [this, &expr](const ir::Ternary&) {
              return fmt::format("{} ? {} : {}", at_least(expr.operands[0], logical_or_level),
                                 at_least(expr.operands[1], ternary_level),
                                 at_least(expr.operands[2], ternary_level));
            },
            [this, &expr](const ir::Index&) {
              return fmt::format("{}[{}]", at_least(expr.operands[0], postfix_level),
                                 print(expr.operands[1]));
            },
            [this, &expr](const ir::Call& node) {
              return fmt::format("{}({})", node.function, list(expr));
            },
            [this, &expr](const ir::Cast& node) {
              return fmt::format("({}){}", declaration_text(node.target, "", dialect_, style_),
                                 at_least(expr.operands[0], postfix_level));
            },
            [this, &expr](const ir::SizeOf& node) {
              return fmt::format("sizeof({})",
                                 node.target ? declaration_text(*node.target, "", dialect_, style_)
                                             : print(expr.operands[0]));
            },
            [this, &expr](const ir::InitList&) { return fmt::format("{{{}}}", list(expr)); },
        },
        expr.node);
  }

  [[nodiscard]] std::string at_least(const Expr& expr, int level) const {
    return level_of(expr) < level ? fmt::format("({})", print(expr)) : print(expr);
  }

  /// A condition; an assignment in it gets the parentheses that say it is meant.
  [[nodiscard]] std::string condition(const Expr& expr) const {
    return at_least(expr, ternary_level);
  }

 private:
  [[nodiscard]] std::string unary(UnaryOp op, const Expr& operand) const {
    const std::string_view sign = ir::spelling_of(op);
    if (is_postfix(op)) return fmt::format("{}{}", at_least(operand, postfix_level), sign);
    // `- -x` and `& &x` must not run together.
    const auto* inner = std::get_if<ir::Unary>(&operand.node);
    const bool runs_together =
        inner != nullptr && !is_postfix(inner->op) && ir::spelling_of(inner->op)[0] == sign[0];
    return fmt::format("{}{}", sign, at_least(operand, runs_together ? primary_level : unary_level));
  }

  [[nodiscard]] std::string binary(BinaryOp op, const Expr& expr) const {
    const std::string left = side(op, expr.operands[0], level_of(op));
    const std::string right = side(op, expr.operands[1], level_of(op) + 1);
    if (op == BinaryOp::comma) return fmt::format("{}, {}", left, right);
    return fmt::format("{} {} {}", left, ir::spelling_of(op), right);
  }

  [[nodiscard]] std::string side(BinaryOp op, const Expr& operand, int level) const {
    const auto* inner = std::get_if<ir::Binary>(&operand.node);
    const bool is_mixed = inner != nullptr && inner->op != op && op != BinaryOp::comma &&
                          !is_arithmetic(op) && level_of(inner->op) < multiplicative_level;
    return at_least(operand, is_mixed ? primary_level : level);
  }

  [[nodiscard]] std::string assign(const ir::Assign& node, const Expr& expr) const {
    return fmt::format("{} {}= {}", at_least(expr.operands[0], unary_level),
                       node.op ? ir::spelling_of(*node.op) : "",
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
  const std::string constness = type.is_const ? "const " : "";
  if (type.base == ir::Base::none) return constness + "void";
  if (type.base == ir::Base::boolean) return fmt::format("{}{}", constness, style.boolean);
  return fmt::format("{}{}", constness, dialect.type_name(*ir::dtype_of(type.base)));
}

std::string declarator_text(const Type& type, std::string_view name, const Dialect& dialect) {
  std::string text(name);
  bool after_pointer = false;
  for (const ir::Derivation& step : type.derivation) {
    const bool is_pointer = step.kind == ir::Derivation::Kind::pointer;
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

class StatementPrinter {
 public:
  StatementPrinter(Context& context, const KernelStyle& style, const ir::Kernel& kernel)
      : context_(context),
        style_(style),
        kernel_(kernel),
        expressions_(context.dialect(), style_) {}

  void body(const ir::Body& statements) {
    for (const ir::Stmt& stmt : statements) statement(stmt);
  }

  [[nodiscard]] std::string variables(const ir::Declare& node) const {
    std::string text = node.is_static ? "static " : "";
    text += scalar_text(node.variables.front().type, context_.dialect(), style_);
    for (const ir::Variable& variable : node.variables) {
      text += &variable == &node.variables.front() ? " " : ", ";
      text += declarator_text(variable.type, variable.name, context_.dialect());
      if (variable.value) text += fmt::format(" = {}", item(*variable.value));
    }
    return text;
  }

 private:
  [[nodiscard]] std::string item(const Expr& expr) const {
    return expressions_.at_least(expr, assignment_level);
  }

  void mark(int line) {
    if (!style_.line_markers || line == 0) return;
    context_.statement(fmt::format("#line {} \"<kernel {}>\"", line, kernel_.name));
  }

  void statement(const ir::Stmt& stmt) {
    mark(stmt.line);
    std::visit(
        overload{
            [this](const ir::Declare& node) { context_.statement(variables(node) + ";"); },
            [this](const ir::Evaluate& node) {
              context_.statement(expressions_.print(node.value) + ";");
            },
            [this](const ir::Block& node) { nested("", node.body); },
            [this](const ir::If& node) { branches(node); },
            [this](const ir::For& node) { nested(for_header(node), node.body); },
            [this](const ir::While& node) { loop(node); },
            [this](const ir::Switch& node) { cases(node); },
            [this](const ir::Return& node) {
              context_.statement(
                  node.value ? fmt::format("return {};", expressions_.print(*node.value))
                             : "return;");
            },
            [this](const ir::Break&) { context_.statement("break;"); },
            [this](const ir::Continue&) { context_.statement("continue;"); },
        },
        stmt.node);
  }

  void nested(const std::string& header, const ir::Body& statements,
              const std::string& trailer = "") {
    context_.begin_branch(header);
    body(statements);
    context_.end_branch(trailer);
  }

  void branches(const ir::If& node) {
    context_.begin_branch(fmt::format("if ({})", expressions_.condition(node.condition)));
    body(node.then_body);
    const ir::Body* rest = &node.else_body;
    while (rest->size() == 1 && std::holds_alternative<ir::If>(rest->front().node)) {
      const auto& next = std::get<ir::If>(rest->front().node);
      context_.else_branch(fmt::format("else if ({})", expressions_.condition(next.condition)));
      body(next.then_body);
      rest = &next.else_body;
    }
    if (!rest->empty()) {
      context_.else_branch("else");
      body(*rest);
    }
    context_.end_branch();
  }

  [[nodiscard]] std::string for_header(const ir::For& node) const {
    std::string init;
    if (!node.init.empty()) {
      const ir::StmtNode& first = node.init.front().node;
      if (const auto* declared = std::get_if<ir::Declare>(&first)) init = variables(*declared);
      if (const auto* value = std::get_if<ir::Evaluate>(&first)) {
        init = expressions_.print(value->value);
      }
    }
    const auto part = [this](const std::optional<Expr>& expr) {
      return expr ? " " + expressions_.print(*expr) : std::string();
    };
    return fmt::format("for ({};{};{})", init, part(node.condition), part(node.step));
  }

  void loop(const ir::While& node) {
    const std::string test = fmt::format("while ({})", expressions_.condition(node.condition));
    if (node.is_do) {
      nested("do", node.body, test + ";");
    } else {
      nested(test, node.body);
    }
  }

  void cases(const ir::Switch& node) {
    context_.begin_branch(fmt::format("switch ({})", expressions_.print(node.value)));
    for (const ir::Case& entry : node.cases) {
      // A label must stand before a statement.
      const bool is_bare = &entry == &node.cases.back() && entry.body.empty();
      const std::string end = is_bare ? ": ;" : ":";
      context_.statement(
          entry.label ? fmt::format("case {}{}", expressions_.print(*entry.label), end)
                      : "default" + end);
      body(entry.body);
    }
    context_.end_branch();
  }

  Context& context_;
  const KernelStyle& style_;
  const ir::Kernel& kernel_;
  ExpressionPrinter expressions_;
};

std::set<std::string> calls_of(const ir::KernelBody& body) {
  std::set<std::string> names;
  for (const ir::FunctionDef& function : body.functions) {
    ir::for_each_expr_in(function.body, [&names](const Expr& expr) {
      if (const auto* call = std::get_if<ir::Call>(&expr.node)) names.insert(call->function);
    });
  }
  return names;
}

ir::FunctionDef with_renamed_calls(ir::FunctionDef function,
                                   const std::map<std::string, std::string>& names) {
  ir::for_each_expr_in(function.body, [&names](Expr& expr) {
    auto* call = std::get_if<ir::Call>(&expr.node);
    if (call == nullptr) return;
    const auto renamed = names.find(call->function);
    if (renamed != names.end()) call->function = renamed->second;
  });
  return function;
}

std::string header_of(const ir::FunctionDef& function, const std::string& name,
                      const Dialect& dialect, const KernelStyle& style) {
  std::string parameters;
  for (const ir::Parameter& parameter : function.parameters) {
    if (!parameters.empty()) parameters += ", ";
    parameters += declaration_text(parameter.type, parameter.name, dialect, style);
  }
  if (parameters.empty()) parameters = "void";
  const std::string call = fmt::format("{}({})", name, parameters);
  return fmt::format("{} {}", dialect.function, declaration_text(function.result, call, dialect, style));
}

void print_prototypes(Context& context, const ir::KernelBody& body, const KernelStyle& style) {
  for (const std::string& name : calls_of(body)) {
    const ir::KnownFunction* known = ir::known_function(name);
    if (known == nullptr || !known->needs_prototype || body.function(name) != nullptr) continue;
    std::string parameters;
    for (const Type& type : known->parameters) {
      if (!parameters.empty()) parameters += ", ";
      parameters += declaration_text(type, "", context.dialect(), style);
    }
    const std::string call = fmt::format("{}({})", name, parameters);
    context.reserve(name);
    context.top_level(
        declaration_text(known->result, call, context.dialect(), style) + ";");
  }
}

void print_tables(Context& context, const ir::Kernel& kernel, const KernelStyle& style) {
  const StatementPrinter printer(context, style, kernel);
  for (const ir::Variable& table : kernel.body->tables) {
    context.reserve(table.name);
    context.top_level(printer.variables(ir::Declare{.is_static = true, .variables = {table}}) +
                      ";");
  }
}

std::string print_functions(Context& context, const ir::Kernel& kernel, const KernelStyle& style) {
  std::map<std::string, std::string> names;
  const auto write = [&kernel, &style, &names](const ir::FunctionDef& function, Context& into,
                                               const std::string& name) {
    if (&function == &kernel.body->functions.front()) {
      print_prototypes(into, *kernel.body, style);
      print_tables(into, kernel, style);
    }
    const ir::FunctionDef renamed = with_renamed_calls(function, names);
    Scope scope = into.function(header_of(function, name, into.dialect(), style));
    StatementPrinter(into, style, kernel).body(renamed.body);
    scope.end();
  };
  std::string entry;
  for (const ir::FunctionDef& function : kernel.body->functions) {
    entry = context.find_or_generate(
        fmt::format("{}:{}", kernel.key, function.name), function.name,
        [&write, &function](Context& into, const std::string& name) {
          write(function, into, name);
        });
    names[function.name] = entry;
  }
  return entry;
}

}  // namespace

std::string declaration_text(const ir::Type& type, std::string_view name, const Dialect& dialect,
                             const KernelStyle& style) {
  const std::string declarator = declarator_text(type, name, dialect);
  const std::string_view space = declarator.empty() ? "" : " ";
  return fmt::format("{}{}{}", scalar_text(type, dialect, style), space, declarator);
}

std::string expression_text(const ir::Expr& expr, const Dialect& dialect,
                            const KernelStyle& style) {
  return ExpressionPrinter(dialect, style).print(expr);
}

std::string print_kernel(Context& context, const ir::Kernel& kernel, const KernelStyle& style) {
  for (const std::string& header : kernel.headers) {
    context.top_level(fmt::format("#include {}", header));
  }
  if (kernel.body) return print_functions(context, kernel, style);
  context.reserve(kernel.name);
  if (style.line_markers) context.top_level(fmt::format("#line 1 \"<kernel {}>\"", kernel.name));
  context.top_level(kernel.text);
  return kernel.name;
}

}  // namespace op2::cg
