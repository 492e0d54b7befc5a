// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "ir/kernel_types.hpp"
#include "ir/kernel_walk.hpp"
#include "ir/known_functions.hpp"
#include "ir/lane_functions.hpp"
#include "lower/lanes_prepare.hpp"
#include "lower/lanes_varying.hpp"

namespace op2::lower {
namespace {

using ir::Base;
using ir::BinaryOp;
using ir::Body;
using ir::Expr;
using ir::LaneOp;
using ir::Stmt;
using ir::Type;
using ir::UnaryOp;

/// What a varying value of @p base is kept in: there are no vectors of bool.
Base lane_base(Base base) {
  return base == Base::boolean ? Base::int32 : base;
}

bool is_comparison(BinaryOp op) {
  return op >= BinaryOp::less && op <= BinaryOp::not_equal;
}

bool is_logical(BinaryOp op) {
  return op == BinaryOp::logical_and || op == BinaryOp::logical_or;
}

bool is_shift(BinaryOp op) {
  return op == BinaryOp::shift_left || op == BinaryOp::shift_right;
}

bool divides_integers(BinaryOp op, Base base) {
  return (op == BinaryOp::divide || op == BinaryOp::modulo) && ir::is_integer(base);
}

Expr name(std::string text, Type type) {
  return {ir::Name{std::move(text)}, {}, std::move(type)};
}

Expr literal(std::string spelling, Base base) {
  return {ir::Literal{std::move(spelling)}, {}, ir::scalar(base)};
}

Expr unary(UnaryOp op, Expr operand) {
  Type type = operand.type;
  return {ir::Unary{op}, {std::move(operand)}, std::move(type)};
}

Expr binary(BinaryOp op, Expr left, Expr right, Type type) {
  return {ir::Binary{op}, {std::move(left), std::move(right)}, std::move(type)};
}

Expr cast(Type type, Expr operand) {
  return {ir::Cast{type}, {std::move(operand)}, type};
}

bool is_zero(const Expr& expr) {
  const auto* node = std::get_if<ir::Literal>(&expr.node);
  return node != nullptr && (node->spelling == "0" || node->spelling == "0.0");
}

/// What the functions of one kernel share.
struct Shared {
  LaneInstances& instances;
  int lanes;
  Base mask;  ///< base of the masks that branches keep
  std::map<const LaneInstance*, std::string> names;
  std::set<std::string, std::less<>> taken;
  ir::KernelBody out;
};

void retype_function(Shared& shared, const LaneInstance& instance);

/// Name of the retyped function, which is made on the first request.
std::string instance_name(Shared& shared, const LaneInstance& instance) {
  const auto known = shared.names.find(&instance);
  if (known != shared.names.end()) return known->second;
  std::string wanted = instance.function->name;
  for (int suffix = 2; shared.taken.contains(wanted); ++suffix) {
    wanted = fmt::format("{}_{}", instance.function->name, suffix);
  }
  shared.taken.insert(wanted);
  shared.names[&instance] = wanted;
  retype_function(shared, instance);
  return wanted;
}

class Retyper {
 public:
  Retyper(Shared& shared, const LaneInstance& in) : shared_(shared), in_(in) {
    if (in.masked) mask_ = name(mask_name(), vector(shared.mask));
  }

  ir::FunctionDef run() {
    ir::FunctionDef out;
    out.name = in_.function->name;
    out.result = in_.result_varies ? vector(in_.function->result.base) : in_.function->result;
    if (in_.masked) out.parameters.push_back({mask_name(), vector(shared_.mask)});
    for (const ir::Parameter& parameter : in_.function->parameters) {
      out.parameters.push_back({parameter.name, retyped(parameter.type, parameter.name)});
    }
    out.body = body(in_.function->body);
    return out;
  }

 private:
  [[nodiscard]] Type vector(Base base) const {
    return ir::on_lanes(lane_base(base), shared_.lanes);
  }

  [[nodiscard]] static std::string mask_name() { return "op2_mask"; }

  [[nodiscard]] bool varies(const Expr& expr) const { return shared_.instances.varies(in_, expr); }

  [[nodiscard]] Type retyped(Type type, const std::string& variable) const {
    if (!in_.varying.contains(variable)) return type;
    if (type.base == Base::unknown || type.base == Base::none) {
      throw Refusal{fmt::format("'{}' has a type that lanes do not have", variable)};
    }
    if (type.base == Base::boolean && !type.derivation.empty()) {
      throw Refusal{fmt::format("'{}' holds bools by element", variable)};
    }
    type.base = lane_base(type.base);
    type.lanes = shared_.lanes;
    return type;
  }

  // ------------------------------------------------------------------------------- statements

  Body body(const Body& statements) {
    Body outer = std::exchange(out_, {});
    for (const Stmt& stmt : statements) statement(stmt);
    return std::exchange(out_, std::move(outer));
  }

  void emit(ir::StmtNode node, int line) { out_.push_back({std::move(node), line}); }

  void statement(const Stmt& stmt) {
    const int line = stmt.line;
    std::visit(overload{
                   [this, line](const ir::Declare& node) { emit(declare(node), line); },
                   [this, line](const ir::Evaluate& node) {
                     emit(ir::Evaluate{effect(node.value)}, line);
                   },
                   [this, line](const ir::Block& node) { emit(ir::Block{body(node.body)}, line); },
                   [this, line](const ir::If& node) { branch(node, line); },
                   [this, line](const ir::For& node) {
                     ir::For out;
                     out.init = body(node.init);
                     if (node.condition) out.condition = value(*node.condition);
                     if (node.step) out.step = effect(*node.step);
                     out.body = body(node.body);
                     emit(std::move(out), line);
                   },
                   [this, line](const ir::While& node) {
                     emit(ir::While{value(node.condition), body(node.body), node.is_do}, line);
                   },
                   [this, line](const ir::Switch& node) {
                     ir::Switch out{value(node.value), {}};
                     for (const ir::Case& entry : node.cases) {
                       out.cases.push_back({entry.label, body(entry.body)});
                     }
                     emit(std::move(out), line);
                   },
                   [this, line](const ir::Return& node) {
                     ir::Return out;
                     if (node.value) {
                       out.value = in_.result_varies
                                       ? to(in_.function->result.base, value(*node.value), true)
                                       : value(*node.value);
                     }
                     emit(std::move(out), line);
                   },
                   [this, line](const ir::Break& node) { emit(node, line); },
                   [this, line](const ir::Continue& node) { emit(node, line); },
               },
               stmt.node);
  }

  ir::Declare declare(const ir::Declare& node) {
    ir::Declare out{node.is_static, {}};
    for (const ir::Variable& variable : node.variables) {
      ir::Variable made{variable.name, retyped(variable.type, variable.name), std::nullopt,
                        variable.line};
      const bool on_lanes = made.type.lanes > 0 && !made.type.is_pointer();
      if (variable.value) {
        made.value = on_lanes ? initial(*variable.value, variable.type.base)
                              : initial_of_scalars(*variable.value);
      } else if (on_lanes && in_.merged.contains(variable.name)) {
        // Its first assignment blends with what it holds.
        made.type.is_const = false;
        made.value = Expr{ir::InitList{}, {literal("0", Base::int32)}, vector(variable.type.base)};
      }
      out.variables.push_back(std::move(made));
    }
    return out;
  }

  Expr initial_of_scalars(const Expr& expr) {
    if (!std::holds_alternative<ir::InitList>(expr.node)) return value(expr);
    Expr out = expr;
    for (Expr& item : out.operands) item = initial_of_scalars(item);
    return out;
  }

  Expr initial(const Expr& expr, Base base) {
    if (!std::holds_alternative<ir::InitList>(expr.node)) return to(base, value(expr), true);
    if (expr.operands.size() == 1 && is_zero(expr.operands[0])) {
      return {ir::InitList{}, {literal("0", Base::int32)}, vector(base)};
    }
    Expr out{ir::InitList{}, {}, {}};
    for (const Expr& item : expr.operands) out.operands.push_back(initial(item, base));
    return out;
  }

  void branch(const ir::If& node, int line) {
    if (!varies(node.condition)) {
      Expr condition = value(node.condition);
      Body then_body = body(node.then_body);
      emit(ir::If{std::move(condition), std::move(then_body), body(node.else_body)}, line);
      return;
    }
    const Expr on = keep_mask(masked(mask(node.condition)), line);
    std::optional<Expr> off;
    if (!node.else_body.empty()) off = keep_mask(masked(unary(UnaryOp::bit_not, on)), line);
    under(on, node.then_body, line);
    if (off) under(*off, node.else_body, line);
  }

  /// @p condition where the lanes that are on now are on.
  [[nodiscard]] Expr masked(Expr condition) const {
    return mask_ ? both(*mask_, std::move(condition)) : condition;
  }

  [[nodiscard]] static Expr both(Expr left, Expr right) {
    Type type = left.type;
    return binary(BinaryOp::bit_and, std::move(left), std::move(right), std::move(type));
  }

  Expr keep_mask(Expr condition, int line) {
    Type type = vector(shared_.mask);
    type.is_const = true;
    const std::string variable = fmt::format("op2_mask{}", ++n_masks_);
    emit(ir::Declare{.is_static = false, .variables = {{variable, type, std::move(condition), 0}}},
         line);
    return name(variable, vector(shared_.mask));
  }

  void under(const Expr& on, const Body& statements, int line) {
    const std::optional<Expr> outer = std::exchange(mask_, on);
    ++n_nested_;
    Body made = body(statements);
    --n_nested_;
    mask_ = outer;
    if (made.empty()) return;
    if (is_worth_a_test(statements)) {
      emit(ir::If{call({LaneOp::any, shared_.mask, shared_.lanes, ""}, {on},
                       ir::scalar(Base::int32)),
                  std::move(made),
                  {}},
           line);
    } else {
      emit(ir::Block{std::move(made)}, line);
    }
  }

  /// Skipping the statements where no lane wants them pays, or avoids what only they may do.
  [[nodiscard]] static bool is_worth_a_test(const Body& statements) {
    constexpr int few = 24;
    int n_expressions = 0;
    bool has_loop = false;
    for (const Stmt& stmt : statements) {
      has_loop |= std::holds_alternative<ir::For>(stmt.node) ||
                  std::holds_alternative<ir::While>(stmt.node);
    }
    ir::for_each_expr_in(statements, [&n_expressions](const Expr& expr) {
      ++n_expressions;
      if (std::holds_alternative<ir::Call>(expr.node)) n_expressions += few;
      if (std::holds_alternative<ir::Index>(expr.node) &&
          !std::holds_alternative<ir::Literal>(expr.operands[1].node)) {
        n_expressions += few;
      }
    });
    return has_loop || n_expressions > few;
  }

  // ------------------------------------------------------------------------------ expressions

  [[nodiscard]] int depth() const { return in_.base_depth() + n_nested_; }

  Expr call(const ir::LaneFunction& function, std::vector<Expr> arguments, Type type) {
    return {ir::Call{ir::name_of(function)}, std::move(arguments), std::move(type)};
  }

  /// @p expr as a value of @p base; on lanes if asked for, or if it is there already.
  Expr to(Base base, Expr expr, bool on_lanes) {
    if (expr.type.lanes == 0 && !on_lanes) {
      return expr.type.base == base ? std::move(expr) : cast(ir::scalar(base), std::move(expr));
    }
    if (ir::is_complex(base)) return to_complex(base, std::move(expr));
    if (ir::is_complex(expr.type.base) && expr.type.lanes > 0 && base != Base::boolean) {
      return to(base, real_part(std::move(expr)), true);
    }
    if (base == Base::boolean) {
      if (expr.type.lanes == 0) expr = cast(ir::scalar(Base::boolean), std::move(expr));
      if (expr.type.lanes > 0) return truth(nonzero(std::move(expr)));
      expr = cast(ir::scalar(Base::int32), std::move(expr));
    }
    const Type wanted = vector(base);
    if (expr.type.lanes == 0) {
      const Type narrow = ir::scalar(wanted.base);
      if (expr.type.base != wanted.base) expr = cast(narrow, std::move(expr));
      return cast(wanted, std::move(expr));
    }
    return expr.type.base == wanted.base ? std::move(expr) : cast(wanted, std::move(expr));
  }

  Expr to_complex(Base base, Expr expr) {
    const bool is_complex = ir::is_complex(expr.type.base);
    if (expr.type.lanes > 0 && is_complex)
      return expr.type.base == base ? expr : resized(base, expr);
    if (is_complex) {
      if (expr.type.base != base) expr = cast(ir::scalar(base), std::move(expr));
      return call({LaneOp::spread, base, shared_.lanes, ""}, {std::move(expr)}, vector(base));
    }
    const Base part = ir::part_base(base);
    Expr real = to(part, std::move(expr), true);
    return call({LaneOp::join, base, shared_.lanes, ""},
                {std::move(real), to(part, literal("0", Base::int32), true)}, vector(base));
  }

  /// Complex numbers of one width as those of the other.
  Expr resized(Base base, const Expr& expr) {
    if (!has_no_effects(expr)) throw Refusal{"complex numbers change their width behind a call"};
    const Base part = ir::part_base(base);
    return call({LaneOp::join, base, shared_.lanes, ""},
                {to(part, real_part(expr), true), to(part, part_of("cimag", expr), true)},
                vector(base));
  }

  Expr real_part(Expr expr) { return part_of("creal", std::move(expr)); }

  Expr part_of(std::string function, Expr expr) {
    const Base base = expr.type.base;
    if (base == Base::complex64) function += 'f';
    return call({LaneOp::call, base, shared_.lanes, function}, {std::move(expr)},
                vector(ir::part_base(base)));
  }

  /// A mask of any width as a mask for values of @p base.
  Expr mask_for(Base base, Expr mask) { return to(ir::mask_base(base), std::move(mask), true); }

  /// Where two complex values are equal, as a mask for them.
  Expr same(Expr left, Expr right) {
    const Base base = left.type.base;
    return call({LaneOp::equal, base, shared_.lanes, ""}, {std::move(left), std::move(right)},
                vector(ir::mask_base(base)));
  }

  Expr nonzero(Expr expr) {
    const Base base = expr.type.base;
    if (ir::is_complex(base)) {
      Expr zero = to(base, literal("0", Base::int32), true);
      return to(shared_.mask, unary(UnaryOp::bit_not, same(std::move(expr), std::move(zero))),
                true);
    }
    Expr compared = binary(BinaryOp::not_equal, std::move(expr),
                           to(base, literal("0", Base::int32), true), vector(ir::mask_base(base)));
    return to(shared_.mask, std::move(compared), true);
  }

  /// A mask as C's int: 1 where it is on.
  Expr truth(Expr mask) { return unary(UnaryOp::minus, to(Base::int32, std::move(mask), true)); }

  [[nodiscard]] static bool is_condition(const Expr& expr) {
    if (const auto* node = std::get_if<ir::Binary>(&expr.node)) {
      return is_comparison(node->op) || is_logical(node->op);
    }
    const auto* node = std::get_if<ir::Unary>(&expr.node);
    return node != nullptr && node->op == UnaryOp::logical_not;
  }

  /// @p expr as a mask of the kernel's width; what does not vary is spread over the lanes.
  Expr mask(const Expr& expr) {
    if (!varies(expr)) {
      Expr is_set = binary(BinaryOp::not_equal, value(expr), literal("0", Base::int32),
                           ir::scalar(Base::int32));
      return to(shared_.mask, unary(UnaryOp::minus, std::move(is_set)), true);
    }
    if (const auto* node = std::get_if<ir::Unary>(&expr.node)) {
      if (node->op == UnaryOp::logical_not) {
        return unary(UnaryOp::bit_not, mask(expr.operands[0]));
      }
    }
    const auto* node = std::get_if<ir::Binary>(&expr.node);
    if (node != nullptr && is_comparison(node->op)) return compare(node->op, expr);
    if (node != nullptr && is_logical(node->op)) {
      Expr left = mask(expr.operands[0]);
      const bool is_and = node->op == BinaryOp::logical_and;
      Expr right = where(is_and ? left : unary(UnaryOp::bit_not, left),
                         [&] { return mask(expr.operands[1]); });
      Type type = left.type;
      return binary(is_and ? BinaryOp::bit_and : BinaryOp::bit_or, std::move(left),
                    std::move(right), std::move(type));
    }
    return nonzero(value(expr));
  }

  Expr compare(BinaryOp op, const Expr& expr) {
    const Base base = ir::common_base(expr.operands[0].type.base, expr.operands[1].type.base);
    if (ir::is_complex(base)) {
      Expr equal =
          same(to(base, value(expr.operands[0]), true), to(base, value(expr.operands[1]), true));
      if (op == BinaryOp::not_equal) equal = unary(UnaryOp::bit_not, std::move(equal));
      return to(shared_.mask, std::move(equal), true);
    }
    Expr compared = binary(op, to(base, value(expr.operands[0]), true),
                           to(base, value(expr.operands[1]), true), vector(ir::mask_base(base)));
    return to(shared_.mask, std::move(compared), true);
  }

  /// Run @p make while only the lanes of @p condition count.
  template <class Make>
  Expr where(const Expr& condition, const Make& make) {
    const std::optional<Expr> outer = std::exchange(mask_, masked(condition));
    ++n_nested_;
    Expr made = make();
    --n_nested_;
    mask_ = outer;
    return made;
  }

  /// An expression whose value is not used.
  Expr effect(const Expr& expr) {
    if (const auto* node = std::get_if<ir::Unary>(&expr.node)) {
      const bool is_post =
          node->op == UnaryOp::post_increment || node->op == UnaryOp::post_decrement;
      if (is_post && varies(expr.operands[0])) return step(node->op, expr.operands[0]);
    }
    return value(expr);
  }

  Expr value(const Expr& expr) {
    if (expr.type.derivation.empty() && expr.type.base == Base::unknown) {
      throw Refusal{"it uses a name or a function that is not known"};
    }
    return std::visit(
        overload{
            [&expr](const ir::Literal&) { return expr; },
            [this, &expr](const ir::Name& node) {
              return name(node.name, retyped(expr.type, node.name));
            },
            [this, &expr](const ir::Unary& node) { return value_of(node, expr); },
            [this, &expr](const ir::Binary& node) { return value_of(node, expr); },
            [this, &expr](const ir::Assign& node) { return value_of(node, expr); },
            [this, &expr](const ir::Ternary&) { return choice(expr); },
            [this, &expr](const ir::Index&) { return element(expr); },
            [this, &expr](const ir::Call& node) { return value_of(node, expr); },
            [this, &expr](const ir::Cast& node) { return value_of(node, expr); },
            [&expr](const ir::SizeOf& node) { return size_of_value(node, expr); },
            [](const ir::InitList&) -> Expr { throw Refusal{"it has a braced value"}; },
        },
        expr.node);
  }

  /// The node with its operands made for lanes; its type follows its operands' lanes.
  Expr rebuilt(const Expr& expr) {
    Expr out{expr.node, {}, expr.type, expr.line};
    for (const Expr& operand : expr.operands) {
      out.operands.push_back(value(operand));
      if (!expr.type.derivation.empty() && !operand.type.derivation.empty()) {
        out.type.lanes = std::max(out.type.lanes, out.operands.back().type.lanes);
      }
    }
    return out;
  }

  Expr value_of(const ir::Unary& node, const Expr& expr) {
    const Expr& operand = expr.operands[0];
    if (!expr.type.derivation.empty() || !varies(expr)) {
      Expr out = rebuilt(expr);
      if (node.op == UnaryOp::address) out.type.lanes = out.operands[0].type.lanes;
      return out;
    }
    switch (node.op) {
      case UnaryOp::plus:
        return to(expr.type.base, value(operand), true);
      case UnaryOp::minus:
      case UnaryOp::bit_not:
        if (ir::is_complex(expr.type.base)) return complex_sign(node.op, expr);
        return unary(node.op, to(expr.type.base, value(operand), true));
      case UnaryOp::logical_not:
        return truth(mask(expr));
      case UnaryOp::dereference: {
        Expr out = rebuilt(expr);
        out.type = vector(expr.type.base);
        return out;
      }
      case UnaryOp::pre_increment:
      case UnaryOp::pre_decrement:
        return step(node.op, operand);
      case UnaryOp::post_increment:
      case UnaryOp::post_decrement: {
        const bool up = node.op == UnaryOp::post_increment;
        const Base base = lane_base(expr.type.base);
        return binary(up ? BinaryOp::subtract : BinaryOp::add, step(node.op, operand),
                      cast(ir::scalar(base), literal("1", Base::int32)), vector(base));
      }
      case UnaryOp::address:
        break;
    }
    throw InternalError("lanes: an address is no value");
  }

  Expr complex_sign(UnaryOp op, const Expr& expr) {
    if (op != UnaryOp::minus) throw Refusal{"it conjugates complex numbers by '~'"};
    const Base base = expr.type.base;
    return call({LaneOp::negate, base, shared_.lanes, ""},
                {to(base, value(expr.operands[0]), true)}, vector(base));
  }

  Expr step(UnaryOp op, const Expr& target) {
    const bool up = op == UnaryOp::pre_increment || op == UnaryOp::post_increment;
    return assign(up ? BinaryOp::add : BinaryOp::subtract, target, literal("1", Base::int32));
  }

  Expr value_of(const ir::Binary& node, const Expr& expr) {
    if (node.op == BinaryOp::comma) {
      Expr left = effect(expr.operands[0]);
      Expr right = value(expr.operands[1]);
      Type type = right.type;
      return binary(node.op, std::move(left), std::move(right), std::move(type));
    }
    if (!expr.type.derivation.empty() || !varies(expr)) return rebuilt(expr);
    if (is_condition(expr)) return truth(mask(expr));
    return arithmetic(node.op, value(expr.operands[0]), expr.operands[0].type.base,
                      value(expr.operands[1]), expr.operands[1].type.base);
  }

  /// `left op right` where a value varies, converted as C does.
  Expr arithmetic(BinaryOp op, Expr left, Base left_base, Expr right, Base right_base) {
    const Base base =
        is_shift(op) ? ir::promoted(left_base) : ir::common_base(left_base, right_base);
    if (ir::is_complex(base)) {
      return call({complex_op(op), base, shared_.lanes, ""},
                  {to(base, std::move(left), true), to(base, std::move(right), true)},
                  vector(base));
    }
    const bool is_guarded = divides_integers(op, base);
    left = to(base, std::move(left), is_shift(op));
    right = to(base, std::move(right), is_shift(op) || (is_guarded && mask_));
    if (is_guarded && mask_) {
      // A lane that is off must not divide by zero.
      right = call(
          {LaneOp::blend, base, shared_.lanes, ""},
          {mask_for(base, *mask_), std::move(right), to(base, literal("1", Base::int32), true)},
          vector(base));
    }
    return binary(op, std::move(left), std::move(right), vector(base));
  }

  static LaneOp complex_op(BinaryOp op) {
    switch (op) {
      case BinaryOp::add:
        return LaneOp::add;
      case BinaryOp::subtract:
        return LaneOp::subtract;
      case BinaryOp::multiply:
        return LaneOp::multiply;
      case BinaryOp::divide:
        return LaneOp::divide;
      default:
        throw Refusal{"it has an operator that complex numbers do not have"};
    }
  }

  Expr choice(const Expr& expr) {
    if (!varies(expr) || !expr.type.derivation.empty()) return rebuilt(expr);
    const Base base = expr.type.base;
    if (base == Base::none) throw Refusal{"a choice on data has no value"};
    if (!varies(expr.operands[0])) {
      Expr condition = value(expr.operands[0]);
      Expr yes = to(base, value(expr.operands[1]), true);
      Expr no = to(base, value(expr.operands[2]), true);
      return {ir::Ternary{}, {std::move(condition), std::move(yes), std::move(no)}, vector(base)};
    }
    const Expr on = mask(expr.operands[0]);
    Expr yes = where(on, [&] { return to(base, value(expr.operands[1]), true); });
    Expr no =
        where(unary(UnaryOp::bit_not, on), [&] { return to(base, value(expr.operands[2]), true); });
    return call({LaneOp::blend, lane_base(base), shared_.lanes, ""},
                {mask_for(lane_base(base), on), std::move(yes), std::move(no)}, vector(base));
  }

  // ------------------------------------------------------------------------- arrays, pointers

  [[nodiscard]] bool subscript_varies(const Expr& expr) const {
    return std::holds_alternative<ir::Index>(expr.node) &&
           (varies(expr.operands[1]) || subscript_varies(expr.operands[0]));
  }

  Expr element(const Expr& expr) {
    if (subscript_varies(expr)) {
      if (!expr.type.derivation.empty()) throw Refusal{"where a pointer leads depends on data"};
      auto [start, index] = place(expr);
      const bool from_lanes = start.type.lanes > 0;
      return call({from_lanes ? LaneOp::pick : LaneOp::lookup, lane_base(expr.type.base),
                   shared_.lanes, ""},
                  {std::move(start), std::move(index)}, vector(expr.type.base));
    }
    Expr out{expr.node, {value(expr.operands[0]), value(expr.operands[1])}, expr.type, expr.line};
    if (out.operands[0].type.lanes > 0) {
      out.type.lanes = shared_.lanes;
      out.type.base = lane_base(out.type.base);
    }
    return out;
  }

  /// Where the innermost scalars of the array start, and the position of one of them by lane.
  std::pair<Expr, Expr> place(const Expr& expr) {
    std::vector<const Expr*> subscripts;
    const Expr* root = &expr;
    for (; std::holds_alternative<ir::Index>(root->node); root = &root->operands[0]) {
      subscripts.push_back(&root->operands[1]);
    }
    Expr start = value(*root);
    std::optional<Expr> index;
    Type row = root->type;
    for (auto subscript = subscripts.rbegin(); subscript != subscripts.rend(); ++subscript) {
      start = Expr{ir::Index{}, {start, literal("0", Base::int32)}, ir::element_of(start.type)};
      row = ir::element_of(row);
      Expr part = to(Base::int64, value(**subscript), true);
      if (const std::int64_t n = ir::n_scalars(row); n != 1) {
        part = binary(BinaryOp::multiply, std::move(part),
                      cast(ir::scalar(Base::int64), literal(std::to_string(n), Base::int32)),
                      vector(Base::int64));
      }
      index = index ? binary(BinaryOp::add, *index, std::move(part), vector(Base::int64))
                    : std::move(part);
    }
    // A lane that is off must not leave the array.
    if (mask_) index = both(*index, mask_for(Base::int64, *mask_));
    Type pointer = ir::pointer_to(start.type);
    return {Expr{ir::Unary{UnaryOp::address}, {std::move(start)}, std::move(pointer)}, *index};
  }

  Expr value_of(const ir::Assign& node, const Expr& expr) {
    if (!expr.operands[0].type.derivation.empty()) return rebuilt(expr);
    return assign(node.op, expr.operands[0], expr.operands[1]);
  }

  Expr assign(std::optional<BinaryOp> op, const Expr& target, const Expr& operand) {
    if (!varies(target)) {
      return {ir::Assign{op}, {value(target), value(operand)}, target.type};
    }
    const Base base = target.type.base;
    const Base kept = lane_base(base);
    const bool is_merged = mask_ && depth() > depth_of_target(in_, target);
    Expr by = value(operand);
    const bool is_plain =
        !op || (base == kept && !ir::is_complex(base) && !is_shift(*op) &&
                !divides_integers(*op, base) && ir::common_base(base, operand.type.base) == base);
    if (!is_merged && is_plain && !subscript_varies(target)) {
      by = to(base, std::move(by), !op);
      return {ir::Assign{op}, {value(target), std::move(by)}, vector(base)};
    }
    if (!has_no_effects(target)) throw Refusal{"an assignment stands inside another's target"};
    Expr result =
        op ? to(base, arithmetic(*op, value(target), base, std::move(by), operand.type.base), true)
           : to(base, std::move(by), true);
    if (subscript_varies(target)) return put(target, std::move(result), is_merged);
    Expr place = value(target);
    if (is_merged) {
      result = call({LaneOp::blend, kept, shared_.lanes, ""},
                    {mask_for(kept, *mask_), std::move(result), place}, vector(base));
    }
    return {ir::Assign{}, {std::move(place), std::move(result)}, vector(base)};
  }

  Expr put(const Expr& target, Expr result, bool is_merged) {
    auto [start, index] = place(target);
    if (start.type.lanes == 0)
      throw Refusal{"an array that is the same for all elements is written"};
    const Base base = lane_base(target.type.base);
    Expr on = is_merged ? *mask_ : to(shared_.mask, literal("-1", Base::int32), true);
    return call(
        {LaneOp::put, base, shared_.lanes, ""},
        {std::move(start), std::move(index), mask_for(base, std::move(on)), std::move(result)},
        ir::scalar(Base::none));
  }

  // ----------------------------------------------------------------------------------- others

  Expr value_of(const ir::Call& node, const Expr& expr) {
    if (const ir::FunctionDef* function = shared_.instances.body().function(node.function)) {
      const LaneInstance& callee = shared_.instances.callee(in_, node, expr, mask_.has_value());
      std::vector<Expr> arguments;
      if (callee.masked) arguments.push_back(*mask_);
      for (std::size_t i = 0; i < expr.operands.size(); ++i) {
        const Type& type = function->parameters[i].type;
        Expr argument = value(expr.operands[i]);
        if (type.derivation.empty()) {
          argument = to(type.base, std::move(argument), callee.varying_parameters[i]);
        }
        arguments.push_back(std::move(argument));
      }
      Type type = callee.result_varies ? vector(expr.type.base) : expr.type;
      return {ir::Call{instance_name(shared_, callee)}, std::move(arguments), std::move(type)};
    }
    if (!varies(expr)) return rebuilt(expr);
    const ir::KnownFunction& known = *ir::known_function(node.function);
    std::vector<Expr> arguments;
    for (std::size_t i = 0; i < expr.operands.size(); ++i) {
      arguments.push_back(to(known.parameters[i].base, value(expr.operands[i]), true));
    }
    return call({LaneOp::call, known.parameters[0].base, shared_.lanes, node.function},
                std::move(arguments), vector(expr.type.base));
  }

  Expr value_of(const ir::Cast& node, const Expr& expr) {
    if (!expr.type.derivation.empty()) {
      Expr out = rebuilt(expr);
      Type target = node.target;
      target.lanes = out.type.lanes;
      out.node = ir::Cast{target};
      return out;
    }
    if (!varies(expr)) return rebuilt(expr);
    return to(node.target.base, value(expr.operands[0]), true);
  }

  /// Of the value that the user wrote, not of the lanes that it has become.
  static Expr size_of_value(const ir::SizeOf& node, const Expr& expr) {
    const Type& type = node.target ? *node.target : expr.operands[0].type;
    const auto dtype = ir::dtype_of(type.base);
    if (type.is_pointer() || !dtype) return expr;
    const auto bytes = ir::n_scalars(type) * static_cast<std::int64_t>(size_of(*dtype));
    return literal(fmt::format("{}ul", bytes), Base::uint64);
  }

  Shared& shared_;
  const LaneInstance& in_;
  Body out_;
  std::optional<Expr> mask_;  // lanes that are on; nothing: all of them
  int n_nested_ = 0;          // masks since the function began
  int n_masks_ = 0;
};

void retype_function(Shared& shared, const LaneInstance& instance) {
  ir::FunctionDef made = Retyper(shared, instance).run();
  made.name = shared.names.at(&instance);
  shared.out.functions.push_back(std::move(made));
}

/// Masks are as wide as the widest value, so that most blends need no conversion.
Base mask_of(const ir::KernelBody& body) {
  bool is_wide = false;
  const auto look = [&is_wide](const Type& type) {
    const auto dtype = ir::dtype_of(type.base);
    is_wide |= dtype && size_of(*dtype) > 4;
  };
  for (const ir::FunctionDef& function : body.functions) {
    for (const ir::Parameter& parameter : function.parameters) look(parameter.type);
    ir::for_each_expr_in(function.body, [&look](const Expr& expr) { look(expr.type); });
  }
  return is_wide ? Base::int64 : Base::int32;
}

}  // namespace

KernelOnLanes kernel_on_lanes(const ir::KernelBody& body, const std::vector<bool>& varies,
                              int lanes) {
  try {
    const ir::KernelBody prepared = prepared_for_lanes(body);
    LaneInstances instances(prepared);
    const LaneInstance& entry = instances.of(prepared.entry().name, varies, false);
    if (entry.varying_parameters != varies) {
      throw Refusal{"it writes behind an argument that is the same for all elements"};
    }
    Shared shared{instances, lanes, mask_of(prepared), {}, {}, {}};
    for (const ir::Variable& table : prepared.tables) shared.taken.insert(table.name);
    shared.out.tables = prepared.tables;
    (void)instance_name(shared, entry);
    return {std::move(shared.out), ""};
  } catch (const Refusal& refusal) {
    return {std::nullopt, refusal.why};
  }
}

}  // namespace op2::lower
