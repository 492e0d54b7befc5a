// SPDX-License-Identifier: BSD-3-Clause
#include "cg/complex_numbers.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/overload.hpp"
#include "cg/complex_effects.hpp"
#include "cg/conditions.hpp"
#include "ir/kernel_types.hpp"
#include "ir/kernel_walk.hpp"
#include "ir/lane_functions.hpp"

namespace op2::cg {
namespace {

using ir::Base;
using ir::BinaryOp;
using ir::Expr;
using ir::Type;
using ir::UnaryOp;

Expr call(std::string function, std::vector<Expr> arguments, Base result, int line) {
  return {ir::Call{std::move(function)}, std::move(arguments), ir::scalar(result), line};
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
  if (!is_complex(wanted) && !is_complex(value)) return;
  const Type target = ir::scalar(wanted.base);
  const int line = value.line;
  value = {ir::Cast{target}, {std::move(value)}, target, line};
}

/// What the items of a list are that an array starts as.
Type item_of(Type type) {
  while (type.is_array()) type = ir::element_of(type);
  return type;
}

void convert_items(Expr& list, const Type& wanted) {
  for (Expr& item : list.operands) {
    if (std::holds_alternative<ir::InitList>(item.node)) {
      convert_items(item, wanted);
    } else {
      convert(item, wanted);
    }
  }
}

/// A complex number as a truth value.
void become_truth(Expr& condition) {
  if (is_complex(condition)) compare_with_zero(condition);
}

/// Puts conversions where C has them, from the outside in.
class Converter {
 public:
  explicit Converter(const ir::KernelBody& body) : body_(body) {}

  void expression(Expr& expr) const {
    std::visit(overload{
                   [](const ir::Literal&) {},
                   [](const ir::Name&) {},
                   [&expr](const ir::Unary& node) { unary(node.op, expr); },
                   [&expr](const ir::Binary& node) { binary(node.op, expr); },
                   [&expr](const ir::Assign&) { assign(expr); },
                   [&expr](const ir::Ternary&) {
                     become_truth(expr.operands[0]);
                     convert(expr.operands[1], expr.type);
                     convert(expr.operands[2], expr.type);
                   },
                   [](const ir::Index&) {},
                   [](const ir::MemberOf&) {},
                   [this, &expr](const ir::Call& node) {
                     if (node.function == "complex") make(expr);
                     arguments(node.function, expr);
                   },
                   [](const ir::Cast&) {},
                   [](const ir::SizeOf&) {},
                   [](const ir::InitList&) {},
               },
               expr.node);
    for (Expr& operand : expr.operands) expression(operand);
  }

 private:
  static void unary(UnaryOp op, Expr& expr) {
    Expr& operand = expr.operands[0];
    if (!is_complex(operand)) return;
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
        ir::scalar(ir::common_base(expr.operands[0].type.base, expr.operands[1].type.base));
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
    auto& node = std::get<ir::Assign>(expr.node);
    const Type target = expr.operands[0].type;
    if (node.op) {
      const Type common = ir::scalar(ir::common_base(target.base, expr.operands[1].type.base));
      Expr left = expr.operands[0];
      expr.operands[1] = {
          ir::Binary{*node.op}, {std::move(left), std::move(expr.operands[1])}, common, expr.line};
      node.op.reset();
    }
    convert(expr.operands[1], target);
  }

  /// A number made of its parts, of the width that it has.
  static void make(Expr& expr) {
    const Type part = ir::scalar(ir::part_base(expr.type.base));
    std::get<ir::Call>(expr.node).function = struct_of(expr.type.base);
    for (Expr& operand : expr.operands) {
      if (auto* cast = std::get_if<ir::Cast>(&operand.node)) cast->target = part;
      operand.type = part;
    }
  }

  void arguments(const std::string& function, Expr& expr) const {
    const ir::FunctionDef* known = body_.function(function);
    if (known == nullptr) return;
    for (std::size_t i = 0; i < std::min(known->parameters.size(), expr.operands.size()); ++i) {
      convert(expr.operands[i], known->parameters[i].type);
    }
  }

  const ir::KernelBody& body_;
};

// ------------------------------------------------------------------------------------------ calls

/// Vectors of two have sums and differences; the rest becomes calls, from the inside out.
struct Caller {
  void expression(Expr& expr) const {
    for (Expr& operand : expr.operands) expression(operand);
    if (const auto* node = std::get_if<ir::Binary>(&expr.node)) {
      binary(node->op, expr);
    } else if (std::holds_alternative<ir::Cast>(expr.node)) {
      cast(expr);
    }
  }

 private:
  static void binary(BinaryOp op, Expr& expr) {
    if (!is_complex(expr.operands[0]) || !is_complex(expr.operands[1])) return;
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
      expr = {ir::Unary{UnaryOp::logical_not}, {std::move(expr)}, ir::scalar(Base::int32), line};
    }
  }

  static void cast(Expr& expr) {
    const Type target = std::get<ir::Cast>(expr.node).target;
    const Type source = expr.operands[0].type;
    if (!target.is_scalar() || !source.is_scalar()) return;
    if (is_complex(target) && is_complex(source)) {
      if (target.base == source.base) {
        Expr inner = std::move(expr.operands[0]);
        expr = std::move(inner);
      } else {
        expr = call(struct_of(target.base) + "_from", std::move(expr.operands), target.base,
                    expr.line);
      }
    } else if (is_complex(target)) {
      std::vector<Expr> parts = std::move(expr.operands);
      parts.push_back({ir::Literal{"0"}, {}, ir::scalar(Base::int32), expr.line});
      expr = call(struct_of(target.base), std::move(parts), target.base, expr.line);
    } else if (is_complex(source)) {
      Expr& operand = expr.operands[0];
      if (target.base == Base::boolean) {
        operand = call(struct_of(source.base) + "_equal",
                       {operand, call(struct_of(source.base),
                                      {{ir::Literal{"0"}, {}, ir::scalar(Base::int32), expr.line},
                                       {ir::Literal{"0"}, {}, ir::scalar(Base::int32), expr.line}},
                                      source.base, expr.line)},
                       Base::int32, expr.line);
        operand = {
            ir::Unary{UnaryOp::logical_not}, {Expr(operand)}, ir::scalar(Base::int32), expr.line};
      } else {
        operand = call("creal" + suffix_of(source.base), {Expr(operand)},
                       ir::part_base(source.base), expr.line);
      }
    }
  }
};

// ------------------------------------------------------------------------------------- statements

/// Conversions that are the statement's, not an expression's.
void convert_statement(ir::Stmt& stmt, const Type& result) {
  std::visit(overload{
                 [](ir::Declare& node) {
                   for (ir::Variable& variable : node.variables) {
                     if (variable.type.lanes > 0 || !variable.value) continue;
                     if (std::holds_alternative<ir::InitList>(variable.value->node)) {
                       convert_items(*variable.value, item_of(variable.type));
                     } else {
                       convert(*variable.value, variable.type);
                     }
                   }
                 },
                 [](ir::Evaluate&) {},
                 [](ir::Block&) {},
                 [](ir::If& node) { become_truth(node.condition); },
                 [](ir::For& node) {
                   if (node.condition) become_truth(*node.condition);
                 },
                 [](ir::While& node) { become_truth(node.condition); },
                 [](ir::Switch&) {},
                 [&result](ir::Return& node) {
                   if (node.value) convert(*node.value, result);
                 },
                 [](ir::Break&) {},
                 [](ir::Continue&) {},
             },
             stmt.node);
}

/// A table's values must be constants, and products of `I` are none on a device: each function gets
/// its own.
void make_tables_local(ir::KernelBody& body) {
  const auto is_local = [](const ir::Variable& table) {
    return table.value && ir::is_complex(table.type.base);
  };
  for (ir::FunctionDef& function : body.functions) {
    ir::Body copies;
    for (const ir::Variable& table : body.tables) {
      bool is_used = false;
      ir::for_each_expr_in(function.body, [&table, &is_used](const Expr& expr) {
        const auto* name = std::get_if<ir::Name>(&expr.node);
        is_used |= name != nullptr && name->name == table.name;
      });
      if (is_used && is_local(table)) copies.push_back({ir::Declare{false, {table}}, table.line});
    }
    function.body.insert(function.body.begin(), copies.begin(), copies.end());
  }
  std::erase_if(body.tables, is_local);
}

/// Lets a rewriter of expressions visit whole bodies.
template <class Rewriter>
struct Everywhere {
  const Rewriter& rewriter;
  void enter() {}
  void leave() {}
  void declare(const ir::Variable& /*variable*/) {}
  void expression(Expr& expr) { rewriter.expression(expr); }
};

}  // namespace

void spell_out_complex(ir::KernelBody& body, ComplexBy how) {
  const Converter converter(body);
  const Caller caller;
  Everywhere<Converter> conversions{converter};
  Everywhere<Caller> calls{caller};
  make_tables_local(body);
  spell_out_effects(body);
  for (ir::FunctionDef& function : body.functions) {
    ir::for_each_body(function.body, [&function](ir::Body& statements) {
      for (ir::Stmt& stmt : statements) convert_statement(stmt, function.result);
    });
    ir::walk_scoped(function.body, conversions);
    if (how == ComplexBy::functions) ir::walk_scoped(function.body, calls);
  }
}

}  // namespace op2::cg
