// SPDX-License-Identifier: BSD-3-Clause
#include "cg/complex_numbers.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/overload.hpp"
#include "cg/conditions.hpp"
#include "kernel/effects.hpp"
#include "kernel/lane_functions.hpp"
#include "kernel/plain.hpp"
#include "kernel/types.hpp"
#include "kernel/walk.hpp"

namespace op2::cg {
namespace {

using kernel::Base;
using kernel::BinaryOp;
using kernel::Expr;
using kernel::Type;
using kernel::UnaryOp;

bool is_complex_value(const Type& type) {
  return type.is_scalar() && kernel::is_complex(type.base) && type.lanes == 0;
}
bool is_complex_value(const Expr& expr) {
  return is_complex_value(expr.type);
}
bool any_complex(const std::vector<Expr>& operands) {
  return std::ranges::any_of(operands,
                             [](const Expr& operand) { return is_complex_value(operand); });
}

Expr call(std::string function, std::vector<Expr> arguments, Base result, int line) {
  return {kernel::Call{std::move(function)}, std::move(arguments), kernel::scalar(result), line};
}

std::string suffix_of(Base base) {
  return base == Base::complex64 ? "f" : "";
}

std::string struct_of(Base base) {
  return base == Base::complex64 ? "op2_complex64" : "op2_complex128";
}

// ------------------------------------------------------------------------------------ conversions

/// Make @p value one of type @p wanted, if either is complex; C does it by itself.
/// Of what nobody declared the compiler tells.
void convert(Expr& value, const Type& wanted) {
  if (!wanted.is_known() || !value.type.is_known()) return;
  if (!wanted.is_scalar() || !value.type.is_scalar() || value.type.base == wanted.base) return;
  if (!is_complex_value(wanted) && !is_complex_value(value)) return;
  const Type target = kernel::scalar(wanted.base);
  const int line = value.line;
  value = {kernel::Cast{target}, {std::move(value)}, target, line};
}

/// What the items of a list are that an array starts as.
Type item_of(Type type) {
  while (type.is_array()) type = kernel::element_of(type);
  return type;
}

void convert_items(Expr& list, const Type& wanted) {
  for (Expr& item : list.operands) {
    if (std::holds_alternative<kernel::InitList>(item.node)) {
      convert_items(item, wanted);
    } else {
      convert(item, wanted);
    }
  }
}

/// A complex number as a truth value.
void become_truth(Expr& condition) {
  if (is_complex_value(condition)) compare_with_zero(condition);
}

/// Puts conversions where C has them, from the outside in.
class Converter {
 public:
  explicit Converter(const kernel::KernelBody& body) : body_(body) {}

  void expression(Expr& expr) const {
    if (kernel::is_step(expr) && is_complex_value(expr.operands[0])) become_update(expr);
    std::visit(overload{
                   [](const kernel::Literal&) {},
                   [](const kernel::Name&) {},
                   [&expr](const kernel::Unary& node) { unary(node.op, expr); },
                   [&expr](const kernel::Binary& node) { binary(node.op, expr); },
                   [&expr](const kernel::Assign&) { assign(expr); },
                   [&expr](const kernel::Ternary&) {
                     become_truth(expr.operands[0]);
                     convert(expr.operands[1], expr.type);
                     convert(expr.operands[2], expr.type);
                   },
                   [](const kernel::Index&) {},
                   [](const kernel::MemberOf&) {},
                   [this, &expr](const kernel::Call& node) {
                     if (node.function == "complex") make(expr);
                     arguments(node.function, expr);
                   },
                   [](const kernel::Cast&) {},
                   [](const kernel::SizeOf&) {},
                   [](const kernel::InitList&) {},
               },
               expr.node);
    for (Expr& operand : expr.operands) expression(operand);
  }

 private:
  /// `z += 1` for `z++`, whose value is not used.
  static void become_update(Expr& expr) {
    const bool goes_up = kernel::is_up(std::get<kernel::Unary>(expr.node).op);
    expr.node = kernel::Assign{goes_up ? BinaryOp::add : BinaryOp::subtract};
    expr.operands.push_back({kernel::Literal{"1"}, {}, kernel::scalar(Base::int32), expr.line});
  }

  static void unary(UnaryOp op, Expr& expr) {
    Expr& operand = expr.operands[0];
    if (!is_complex_value(operand)) return;
    if (op == UnaryOp::logical_not) become_truth(operand);
    if (op == UnaryOp::bit_not) {
      const Base base = operand.type.base;
      expr = call("conj" + suffix_of(base), {Expr(operand)}, base, expr.line);
    }
  }

  static void binary(BinaryOp op, Expr& expr) {
    if (op == BinaryOp::comma || !any_complex(expr.operands)) return;
    const bool is_logical = op == BinaryOp::logical_and || op == BinaryOp::logical_or;
    const Type common =
        kernel::scalar(kernel::common_base(expr.operands[0].type.base, expr.operands[1].type.base));
    for (Expr& operand : expr.operands) {
      if (is_logical) {
        become_truth(operand);
      } else {
        convert(operand, common);
      }
    }
  }

  static void assign(Expr& expr) {
    if (!any_complex(expr.operands)) return;
    auto& node = std::get<kernel::Assign>(expr.node);
    const Type target = expr.operands[0].type;
    if (node.op) {
      const Type common =
          kernel::scalar(kernel::common_base(target.base, expr.operands[1].type.base));
      Expr left = expr.operands[0];
      expr.operands[1] = {kernel::Binary{*node.op},
                          {std::move(left), std::move(expr.operands[1])},
                          common,
                          expr.line};
      node.op.reset();
    }
    convert(expr.operands[1], target);
  }

  /// A number made of its parts, of the width that it has.
  static void make(Expr& expr) {
    const Type part = kernel::scalar(kernel::part_base(expr.type.base));
    std::get<kernel::Call>(expr.node).function = struct_of(expr.type.base);
    for (Expr& operand : expr.operands) {
      if (auto* cast = std::get_if<kernel::Cast>(&operand.node)) cast->target = part;
      operand.type = part;
    }
  }

  void arguments(const std::string& function, Expr& expr) const {
    const kernel::FunctionDef* known = body_.function(function);
    if (known == nullptr) return;
    for (std::size_t i = 0; i < std::min(known->parameters.size(), expr.operands.size()); ++i) {
      convert(expr.operands[i], known->parameters[i].type);
    }
  }

  const kernel::KernelBody& body_;
};

// ------------------------------------------------------------------------------------------ calls

/// Vectors of two have sums and differences; the rest becomes calls, from the inside out.
struct Caller {
  void expression(Expr& expr) const {
    for (Expr& operand : expr.operands) expression(operand);
    if (const auto* node = std::get_if<kernel::Binary>(&expr.node)) {
      binary(node->op, expr);
    } else if (std::holds_alternative<kernel::Cast>(expr.node)) {
      cast(expr);
    }
  }

 private:
  static void binary(BinaryOp op, Expr& expr) {
    if (!is_complex_value(expr.operands[0]) || !is_complex_value(expr.operands[1])) return;
    const Base base = expr.operands[0].type.base;
    const auto become = [&expr, base](const char* name, Base result) {
      expr = call(struct_of(base) + name, std::move(expr.operands), result, expr.line);
    };
    if (op == BinaryOp::multiply) become("_multiply", base);
    if (op == BinaryOp::divide) become("_divide", base);
    if (op == BinaryOp::equal) become("_equal", Base::int32);
    if (op == BinaryOp::not_equal) {
      become("_equal", Base::int32);
      const int line = expr.line;
      expr = {kernel::Unary{UnaryOp::logical_not},
              {std::move(expr)},
              kernel::scalar(Base::int32),
              line};
    }
  }

  static void cast(Expr& expr) {
    const Type target = std::get<kernel::Cast>(expr.node).target;
    const Type source = expr.operands[0].type;
    if (!target.is_scalar() || !source.is_scalar()) return;
    if (is_complex_value(target) && is_complex_value(source)) {
      if (target.base == source.base) {
        Expr inner = std::move(expr.operands[0]);
        expr = std::move(inner);
      } else {
        expr = call(struct_of(target.base) + "_from", std::move(expr.operands), target.base,
                    expr.line);
      }
    } else if (is_complex_value(target)) {
      std::vector<Expr> parts = std::move(expr.operands);
      parts.push_back({kernel::Literal{"0"}, {}, kernel::scalar(Base::int32), expr.line});
      expr = call(struct_of(target.base), std::move(parts), target.base, expr.line);
    } else if (is_complex_value(source)) {
      Expr& operand = expr.operands[0];
      if (target.base == Base::boolean) {
        operand = call(
            struct_of(source.base) + "_equal",
            {operand, call(struct_of(source.base),
                           {{kernel::Literal{"0"}, {}, kernel::scalar(Base::int32), expr.line},
                            {kernel::Literal{"0"}, {}, kernel::scalar(Base::int32), expr.line}},
                           source.base, expr.line)},
            Base::int32, expr.line);
        operand = {kernel::Unary{UnaryOp::logical_not},
                   {Expr(operand)},
                   kernel::scalar(Base::int32),
                   expr.line};
      } else {
        operand = call("creal" + suffix_of(source.base), {Expr(operand)},
                       kernel::part_base(source.base), expr.line);
      }
    }
  }
};

// ------------------------------------------------------------------------------------- statements

/// Conversions that are the statement's, not an expression's.
void convert_statement(kernel::Stmt& stmt, const Type& result) {
  std::visit(overload{
                 [](kernel::Declare& node) {
                   for (kernel::Variable& variable : node.variables) {
                     if (variable.type.lanes > 0 || !variable.value) continue;
                     if (std::holds_alternative<kernel::InitList>(variable.value->node)) {
                       convert_items(*variable.value, item_of(variable.type));
                     } else {
                       convert(*variable.value, variable.type);
                     }
                   }
                 },
                 [](kernel::Evaluate&) {},
                 [](kernel::Block&) {},
                 [](kernel::If& node) { become_truth(node.condition); },
                 [](kernel::For& node) {
                   if (node.condition) become_truth(*node.condition);
                 },
                 [](kernel::While& node) { become_truth(node.condition); },
                 [](kernel::Switch&) {},
                 [&result](kernel::Return& node) {
                   if (node.value) convert(*node.value, result);
                 },
                 [](kernel::Break&) {},
                 [](kernel::Continue&) {},
             },
             stmt.node);
}

/// A table's values must be constants, and products of `I` are none on a device: each function gets
/// its own.
void make_tables_local(kernel::KernelBody& body) {
  const auto is_local = [](const kernel::Variable& table) {
    return table.value && kernel::is_complex(table.type.base);
  };
  for (kernel::FunctionDef& function : body.functions) {
    kernel::Body copies;
    for (const kernel::Variable& table : body.tables) {
      bool is_used = false;
      kernel::for_each_expr_in(function.body, [&table, &is_used](const Expr& expr) {
        const auto* name = std::get_if<kernel::Name>(&expr.node);
        is_used |= name != nullptr && name->name == table.name;
      });
      if (is_used && is_local(table))
        copies.push_back({kernel::Declare{false, {table}}, table.line});
    }
    function.body.insert(function.body.begin(), copies.begin(), copies.end());
  }
  std::erase_if(body.tables, is_local);
}

/// Whether a complex number is changed by an operator that the dialect must spell out.
bool updates_complex(const kernel::FunctionDef& function) {
  bool found = false;
  kernel::for_each_expr_in(function.body, [&found](const Expr& expr) {
    const auto* assign = std::get_if<kernel::Assign>(&expr.node);
    const bool is_update = assign != nullptr ? assign->op.has_value() : kernel::is_step(expr);
    found = found || (is_update && any_complex(expr.operands));
  });
  return found;
}

/// Lets a rewriter of expressions visit whole bodies.
template <class Rewriter>
struct Everywhere {
  const Rewriter& rewriter;
  void enter() {}
  void leave() {}
  void declare(const kernel::Variable& /*variable*/) {}
  void expression(Expr& expr) { rewriter.expression(expr); }
};

}  // namespace

kernel::KernelBody with_plain_updates(kernel::KernelBody body) {
  if (std::ranges::none_of(body.functions, updates_complex) || kernel::is_plain(body)) return body;
  return kernel::plain_in_c(body).value_or(body);  // compilers tell of undeclared names
}

void spell_out_complex(kernel::KernelBody& body, ComplexBy how) {
  const Converter converter(body);
  const Caller caller;
  Everywhere<Converter> conversions{converter};
  Everywhere<Caller> calls{caller};
  make_tables_local(body);
  for (kernel::FunctionDef& function : body.functions) {
    kernel::for_each_body(function.body, [&function](kernel::Body& statements) {
      for (kernel::Stmt& stmt : statements) convert_statement(stmt, function.result);
    });
    kernel::walk_scoped(function.body, conversions);
    if (how == ComplexBy::functions) kernel::walk_scoped(function.body, calls);
  }
}

}  // namespace op2::cg
