// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_expressions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "kernel/effects.hpp"
#include "kernel/known_functions.hpp"
#include "kernel/lane_functions.hpp"
#include "kernel/types.hpp"

namespace op2::lower {

using kernel::Base;
using kernel::BinaryOp;
using kernel::Expr;
using kernel::LaneOp;
using kernel::Type;
using kernel::UnaryOp;
using typed::binary;
using typed::cast;
using typed::literal;
using typed::name;
using typed::unary;

namespace {

bool is_comparison(BinaryOp op) {
  return op >= BinaryOp::less && op <= BinaryOp::not_equal;
}

bool is_logical(BinaryOp op) {
  return op == BinaryOp::logical_and || op == BinaryOp::logical_or;
}

bool is_condition(const Expr& expr) {
  if (const auto* node = std::get_if<kernel::Binary>(&expr.node)) {
    return is_comparison(node->op) || is_logical(node->op);
  }
  const auto* node = std::get_if<kernel::Unary>(&expr.node);
  return node != nullptr && node->op == UnaryOp::logical_not;
}

/// Of the value that the user wrote, not of the lanes that it has become.
Expr size_of_value(const kernel::SizeOf& node, const Expr& expr) {
  const Type& type = node.target ? *node.target : expr.operands[0].type;
  const auto dtype = kernel::dtype_of(type.base);
  if (type.is_pointer() || !dtype) return expr;
  const auto bytes = kernel::n_scalars(type) * static_cast<std::int64_t>(size_of(*dtype));
  return literal(fmt::format("{}ul", bytes), Base::uint64);
}

}  // namespace

Type LaneExpressions::retyped(Type type, const std::string& variable) const {
  if (!in_.varying.contains(variable)) return type;
  if (type.base == Base::unknown || type.base == Base::none) {
    throw Refusal{fmt::format("'{}' has a type that lanes do not have", variable)};
  }
  if (type.base == Base::boolean && !type.derivation.empty()) {
    throw Refusal{fmt::format("'{}' holds bools by element", variable)};
  }
  type.base = lane_base(type.base);
  type.lanes = values_.lanes();
  return type;
}

// ----------------------------------------------------------------------------------------- masks

Expr LaneExpressions::masked(Expr condition) const {
  return mask_ ? LaneValues::both(*mask_, std::move(condition)) : condition;
}

Expr LaneExpressions::mask(const Expr& expr) {
  if (!varies(expr)) return values_.spread_condition(value(expr));
  if (const auto* node = std::get_if<kernel::Unary>(&expr.node)) {
    if (node->op == UnaryOp::logical_not) {
      return unary(UnaryOp::bit_not, mask(expr.operands[0]));
    }
  }
  const auto* node = std::get_if<kernel::Binary>(&expr.node);
  if (node != nullptr && is_comparison(node->op)) {
    const Base base = kernel::common_base(expr.operands[0].type.base, expr.operands[1].type.base);
    Expr left = value_on_lanes(base, expr.operands[0]);
    return values_.compared(node->op, base, std::move(left),
                            value_on_lanes(base, expr.operands[1]));
  }
  if (node != nullptr && is_logical(node->op)) {
    Expr left = mask(expr.operands[0]);
    const bool is_and = node->op == BinaryOp::logical_and;
    Expr right = under(masked(is_and ? left : unary(UnaryOp::bit_not, left)),
                       [&] { return mask(expr.operands[1]); });
    Type type = left.type;
    return binary(is_and ? BinaryOp::bit_and : BinaryOp::bit_or, std::move(left), std::move(right),
                  std::move(type));
  }
  return values_.nonzero(value(expr));
}

// ---------------------------------------------------------------------------------------- values

Expr LaneExpressions::effect(const Expr& expr) {
  if (kernel::is_step(expr) && varies(expr.operands[0])) {
    const bool goes_up = kernel::is_up(std::get<kernel::Unary>(expr.node).op);
    return assign(goes_up ? BinaryOp::add : BinaryOp::subtract, expr.operands[0],
                  literal("1", Base::int32));
  }
  if (const auto* node = std::get_if<kernel::Assign>(&expr.node)) {
    const bool is_pointer = !expr.operands[0].type.derivation.empty();
    return is_pointer ? rebuilt(expr) : assign(node->op, expr.operands[0], expr.operands[1]);
  }
  const auto* node = std::get_if<kernel::Binary>(&expr.node);
  if (node == nullptr || node->op != BinaryOp::comma) return value(expr);
  Expr left = effect(expr.operands[0]);
  Expr right = effect(expr.operands[1]);
  Type type = right.type;
  return binary(BinaryOp::comma, std::move(left), std::move(right), std::move(type));
}

Expr LaneExpressions::value_on_lanes(Base base, const Expr& expr) {
  return values_.to(base, value(expr), true);
}

Expr LaneExpressions::value(const Expr& expr) {
  if (expr.type.derivation.empty() && expr.type.base == Base::unknown) {
    throw Refusal{"it uses a name or a function that is not known"};
  }
  return std::visit(
      overload{
          [&expr](const kernel::Literal&) { return expr; },
          [this, &expr](const kernel::Name& node) {
            return name(node.name, retyped(expr.type, node.name));
          },
          [this, &expr](const kernel::Unary& node) { return value_of(node, expr); },
          [this, &expr](const kernel::Binary& node) { return value_of(node, expr); },
          [](const kernel::Assign&) -> Expr {
            throw InternalError("lanes: a store stands inside of a value");
          },
          [this, &expr](const kernel::Ternary&) { return choice(expr); },
          [this, &expr](const kernel::Index&) { return element(expr); },
          [](const kernel::MemberOf&) -> Expr {
            throw InternalError("lanes: structures are split before");
          },
          [this, &expr](const kernel::Call& node) { return value_of(node, expr); },
          [this, &expr](const kernel::Cast& node) { return value_of(node, expr); },
          [&expr](const kernel::SizeOf& node) { return size_of_value(node, expr); },
          [](const kernel::InitList&) -> Expr { throw Refusal{"it has a braced value"}; },
      },
      expr.node);
}

/// The node with its operands made for lanes; its type follows its operands' lanes.
Expr LaneExpressions::rebuilt(const Expr& expr) {
  Expr out{expr.node, {}, expr.type, expr.line};
  for (const Expr& operand : expr.operands) {
    out.operands.push_back(value(operand));
    if (!expr.type.derivation.empty() && !operand.type.derivation.empty()) {
      out.type.lanes = std::max(out.type.lanes, out.operands.back().type.lanes);
    }
  }
  return out;
}

Expr LaneExpressions::value_of(const kernel::Unary& node, const Expr& expr) {
  const Expr& operand = expr.operands[0];
  if (node.op == UnaryOp::address && subscript_varies(operand)) {
    throw Refusal{"where a pointer leads depends on data"};
  }
  if (!expr.type.derivation.empty() || !varies(expr)) {
    Expr out = rebuilt(expr);
    if (node.op == UnaryOp::address) out.type.lanes = out.operands[0].type.lanes;
    return out;
  }
  switch (node.op) {
    case UnaryOp::plus:
      return value_on_lanes(expr.type.base, operand);
    case UnaryOp::minus:
      return values_.negated(value_on_lanes(expr.type.base, operand));
    case UnaryOp::bit_not:
      return values_.complement(value_on_lanes(expr.type.base, operand));
    case UnaryOp::logical_not:
      return values_.truth(mask(expr));
    case UnaryOp::dereference: {
      Expr out = rebuilt(expr);
      out.type = values_.vector(expr.type.base);
      return out;
    }
    case UnaryOp::pre_increment:
    case UnaryOp::pre_decrement:
    case UnaryOp::post_increment:
    case UnaryOp::post_decrement:
    case UnaryOp::address:
      break;
  }
  throw InternalError("lanes: an address or a step is no value");
}

Expr LaneExpressions::value_of(const kernel::Binary& node, const Expr& expr) {
  if (!expr.type.derivation.empty() || !varies(expr)) return rebuilt(expr);
  if (is_condition(expr)) return values_.truth(mask(expr));
  Expr left = value(expr.operands[0]);
  return values_.arithmetic(node.op, std::move(left), expr.operands[0].type.base,
                            value(expr.operands[1]), expr.operands[1].type.base, mask_);
}

Expr LaneExpressions::choice(const Expr& expr) {
  if (!varies(expr) || !expr.type.derivation.empty()) return rebuilt(expr);
  const Base base = expr.type.base;
  if (base == Base::none) throw Refusal{"a choice on data has no value"};
  if (!varies(expr.operands[0])) {
    Expr condition = value(expr.operands[0]);
    Expr yes = value_on_lanes(base, expr.operands[1]);
    Expr no = value_on_lanes(base, expr.operands[2]);
    return {kernel::Ternary{},
            {std::move(condition), std::move(yes), std::move(no)},
            values_.vector(base)};
  }
  const Expr on = mask(expr.operands[0]);
  Expr yes = under(masked(on), [&] { return value_on_lanes(base, expr.operands[1]); });
  Expr no = under(masked(unary(UnaryOp::bit_not, on)),
                  [&] { return value_on_lanes(base, expr.operands[2]); });
  return values_.blend(lane_base(base), values_.mask_for(lane_base(base), on), std::move(yes),
                       std::move(no));
}

// ------------------------------------------------------------------------------ arrays, pointers

bool LaneExpressions::subscript_varies(const Expr& expr) const {
  return std::holds_alternative<kernel::Index>(expr.node) &&
         (varies(expr.operands[1]) || subscript_varies(expr.operands[0]));
}

Expr LaneExpressions::element(const Expr& expr) {
  if (subscript_varies(expr)) {
    if (!expr.type.derivation.empty()) throw Refusal{"where a pointer leads depends on data"};
    auto [start, index] = place(expr);
    const bool from_lanes = start.type.lanes > 0;
    return values_.call(from_lanes ? LaneOp::pick : LaneOp::lookup, lane_base(expr.type.base),
                        {std::move(start), std::move(index)}, values_.vector(expr.type.base));
  }
  Expr out{expr.node, {value(expr.operands[0]), value(expr.operands[1])}, expr.type, expr.line};
  if (out.operands[0].type.lanes > 0) {
    out.type.lanes = values_.lanes();
    out.type.base = lane_base(out.type.base);
  }
  return out;
}

/// Where the innermost scalars of the array start, and the position of one of them by lane.
std::pair<Expr, Expr> LaneExpressions::place(const Expr& expr) {
  std::vector<const Expr*> subscripts;
  const Expr* root = &expr;
  for (; std::holds_alternative<kernel::Index>(root->node); root = &root->operands[0]) {
    subscripts.push_back(&root->operands[1]);
  }
  const Type whole = values_.vector(Base::int64);
  Expr start = value(*root);
  std::optional<Expr> index;
  Type row = root->type;
  for (auto subscript = subscripts.rbegin(); subscript != subscripts.rend(); ++subscript) {
    start =
        Expr{kernel::Index{}, {start, literal("0", Base::int32)}, kernel::element_of(start.type)};
    row = kernel::element_of(row);
    Expr part = value_on_lanes(Base::int64, **subscript);
    if (const std::int64_t n = kernel::n_scalars(row); n != 1) {
      part =
          binary(BinaryOp::multiply, std::move(part),
                 cast(kernel::scalar(Base::int64), literal(std::to_string(n), Base::int32)), whole);
    }
    index = index ? binary(BinaryOp::add, *index, std::move(part), whole) : std::move(part);
  }
  // A lane that is off must not leave the array.
  if (mask_) index = LaneValues::both(*index, values_.mask_for(Base::int64, *mask_));
  Type pointer = kernel::pointer_to(start.type);
  return {Expr{kernel::Unary{UnaryOp::address}, {std::move(start)}, std::move(pointer)}, *index};
}

Expr LaneExpressions::assign(std::optional<BinaryOp> op, const Expr& target, const Expr& operand) {
  if (!varies(target)) {
    return {kernel::Assign{op}, {value(target), value(operand)}, target.type};
  }
  const Base base = target.type.base;
  const Base kept = lane_base(base);
  const int depth = in_.base_depth() + n_nested_;
  const bool is_merged = mask_ && depth > depth_of_target(in_, target);
  Expr by = value(operand);
  const bool is_plain =
      !op || (base == kept && !kernel::is_complex(base) && !is_shift(*op) &&
              !divides_integers(*op, base) && kernel::common_base(base, operand.type.base) == base);
  if (!is_merged && is_plain && !subscript_varies(target)) {
    by = values_.to(base, std::move(by), !op);
    return {kernel::Assign{op}, {value(target), std::move(by)}, values_.vector(base)};
  }
  if (op) {
    by = values_.arithmetic(*op, value(target), base, std::move(by), operand.type.base, mask_);
  }
  Expr result = values_.to(base, std::move(by), true);
  if (subscript_varies(target)) return put(target, std::move(result), is_merged);
  Expr place = value(target);
  if (is_merged) {
    result = values_.blend(kept, values_.mask_for(kept, *mask_), std::move(result), place);
  }
  return {kernel::Assign{}, {std::move(place), std::move(result)}, values_.vector(base)};
}

Expr LaneExpressions::put(const Expr& target, Expr result, bool is_merged) {
  auto [start, index] = place(target);
  if (start.type.lanes == 0) throw Refusal{"an array that is the same for all elements is written"};
  const Base base = lane_base(target.type.base);
  Expr on = is_merged ? *mask_ : values_.to(values_.mask(), literal("-1", Base::int32), true);
  return values_.call(LaneOp::put, base,
                      {std::move(start), std::move(index), values_.mask_for(base, std::move(on)),
                       std::move(result)},
                      kernel::scalar(Base::none));
}

// ------------------------------------------------------------------------------- calls and casts

Expr LaneExpressions::value_of(const kernel::Call& node, const Expr& expr) {
  if (const kernel::FunctionDef* function = instances_.body().function(node.function)) {
    const LaneInstance& callee = instances_.callee(in_, node, expr, mask_.has_value());
    std::vector<Expr> arguments;
    if (callee.masked) arguments.push_back(*mask_);
    for (std::size_t i = 0; i < expr.operands.size(); ++i) {
      const Type& type = function->parameters[i].type;
      Expr argument = value(expr.operands[i]);
      if (type.derivation.empty()) {
        argument = values_.to(type.base, std::move(argument), callee.varying_parameters[i]);
      }
      arguments.push_back(std::move(argument));
    }
    Type type = callee.result_varies ? values_.vector(expr.type.base) : expr.type;
    return {kernel::Call{name_of_(callee)}, std::move(arguments), std::move(type)};
  }
  if (!varies(expr)) return rebuilt(expr);
  const kernel::KnownFunction& known = *kernel::known_function(node.function);
  if (std::string exponent = kernel::power_of_call(expr); !exponent.empty()) {
    const Base base = known.parameters[0].base;
    return values_.call(LaneOp::power, base, {value_on_lanes(base, expr.operands[0])},
                        values_.vector(expr.type.base), std::move(exponent));
  }
  std::vector<Expr> arguments;
  for (std::size_t i = 0; i < expr.operands.size(); ++i) {
    arguments.push_back(value_on_lanes(known.parameters[i].base, expr.operands[i]));
  }
  return values_.call(LaneOp::call, known.parameters[0].base, std::move(arguments),
                      values_.vector(expr.type.base), node.function);
}

Expr LaneExpressions::value_of(const kernel::Cast& node, const Expr& expr) {
  if (!expr.type.derivation.empty()) {
    Expr out = rebuilt(expr);
    Type target = node.target;
    target.lanes = out.type.lanes;
    out.node = kernel::Cast{target};
    return out;
  }
  if (!varies(expr)) return rebuilt(expr);
  return value_on_lanes(node.target.base, expr.operands[0]);
}

}  // namespace op2::lower
