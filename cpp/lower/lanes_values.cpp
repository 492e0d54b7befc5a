// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_values.hpp"

#include <algorithm>
#include <utility>

#include "kernel/effects.hpp"
#include "kernel/types.hpp"
#include "lower/lanes_varying.hpp"

namespace op2::lower {

using kernel::Base;
using kernel::BinaryOp;
using kernel::Expr;
using kernel::LaneOp;
using kernel::Type;
using kernel::UnaryOp;

namespace typed {

Expr name(std::string text, Type type) {
  return {kernel::Name{std::move(text)}, {}, std::move(type)};
}

Expr literal(std::string spelling, Base base) {
  return {kernel::Literal{std::move(spelling)}, {}, kernel::scalar(base)};
}

Expr unary(UnaryOp op, Expr operand) {
  Type type = operand.type;
  return {kernel::Unary{op}, {std::move(operand)}, std::move(type)};
}

Expr binary(BinaryOp op, Expr left, Expr right, Type type) {
  return {kernel::Binary{op}, {std::move(left), std::move(right)}, std::move(type)};
}

Expr cast(Type type, Expr operand) {
  return {kernel::Cast{type}, {std::move(operand)}, type};
}

}  // namespace typed

namespace {

using typed::binary;
using typed::cast;
using typed::literal;
using typed::unary;

/// True if @p call is given no pointer to what it may change.
bool takes_values(const Expr& call) {
  return std::ranges::none_of(call.operands, [](const Expr& operand) {
    return !operand.type.derivation.empty() && !operand.type.is_const;
  });
}

Expr zero() {
  return literal("0", Base::int32);
}

LaneOp complex_op(BinaryOp op) {
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

}  // namespace

Base lane_base(Base base) {
  return base == Base::boolean ? Base::int32 : base;
}

bool is_shift(BinaryOp op) {
  return op == BinaryOp::shift_left || op == BinaryOp::shift_right;
}

bool divides_integers(BinaryOp op, Base base) {
  return (op == BinaryOp::divide || op == BinaryOp::modulo) && kernel::is_integer(base);
}

Type LaneValues::vector(Base base) const {
  return kernel::on_lanes(lane_base(base), lanes_);
}

Expr LaneValues::call(LaneOp op, Base base, std::vector<Expr> arguments, Type type,
                      std::string function) const {
  const kernel::LaneFunction called{op, base, lanes_, std::move(function)};
  return {kernel::Call{kernel::name_of(called)}, std::move(arguments), std::move(type)};
}

Expr LaneValues::to(Base base, Expr expr, bool on_lanes) const {
  if (expr.type.lanes == 0 && !on_lanes) {
    return expr.type.base == base ? std::move(expr) : cast(kernel::scalar(base), std::move(expr));
  }
  if (kernel::is_complex(base)) return to_complex(base, std::move(expr));
  if (kernel::is_complex(expr.type.base) && expr.type.lanes > 0 && base != Base::boolean) {
    return to(base, part_of("creal", std::move(expr)), true);
  }
  if (base == Base::boolean) {
    if (expr.type.lanes == 0) expr = cast(kernel::scalar(Base::boolean), std::move(expr));
    if (expr.type.lanes > 0) return truth(nonzero(std::move(expr)));
    expr = cast(kernel::scalar(Base::int32), std::move(expr));
  }
  const Type wanted = vector(base);
  if (expr.type.lanes == 0) {
    const Type narrow = kernel::scalar(wanted.base);
    if (expr.type.base != wanted.base) expr = cast(narrow, std::move(expr));
    return cast(wanted, std::move(expr));
  }
  return expr.type.base == wanted.base ? std::move(expr) : cast(wanted, std::move(expr));
}

Expr LaneValues::to_complex(Base base, Expr expr) const {
  const bool is_complex = kernel::is_complex(expr.type.base);
  if (expr.type.lanes > 0 && is_complex) return expr.type.base == base ? expr : resized(base, expr);
  if (is_complex) {
    if (expr.type.base != base) expr = cast(kernel::scalar(base), std::move(expr));
    return call(LaneOp::spread, base, {std::move(expr)}, vector(base));
  }
  const Base part = kernel::part_base(base);
  Expr real = to(part, std::move(expr), true);
  return call(LaneOp::join, base, {std::move(real), to(part, zero(), true)}, vector(base));
}

/// Complex numbers of one width as those of the other.
Expr LaneValues::resized(Base base, const Expr& expr) const {
  if (!kernel::has_no_effect(expr, takes_values)) {
    throw Refusal{"complex numbers change their width behind a call"};
  }
  const Base part = kernel::part_base(base);
  return call(LaneOp::join, base,
              {to(part, part_of("creal", expr), true), to(part, part_of("cimag", expr), true)},
              vector(base));
}

Expr LaneValues::part_of(std::string function, Expr expr) const {
  const Base base = expr.type.base;
  if (base == Base::complex64) function += 'f';
  return call(LaneOp::call, base, {std::move(expr)}, vector(kernel::part_base(base)),
              std::move(function));
}

Expr LaneValues::arithmetic(BinaryOp op, Expr left, Base left_base, Expr right, Base right_base,
                            const std::optional<Expr>& on) const {
  const Base base =
      is_shift(op) ? kernel::promoted(left_base) : kernel::common_base(left_base, right_base);
  if (kernel::is_complex(base)) {
    return call(complex_op(op), base,
                {to(base, std::move(left), true), to(base, std::move(right), true)}, vector(base));
  }
  const bool is_guarded = divides_integers(op, base);
  left = to(base, std::move(left), is_shift(op));
  right = to(base, std::move(right), is_shift(op) || (is_guarded && on));
  if (is_guarded && on) {
    // A lane that is off must not divide by zero.
    right = blend(base, mask_for(base, *on), std::move(right),
                  to(base, literal("1", Base::int32), true));
  }
  return binary(op, std::move(left), std::move(right), vector(base));
}

Expr LaneValues::negated(Expr expr) const {
  const Base base = expr.type.base;
  if (!kernel::is_complex(base)) return unary(UnaryOp::minus, std::move(expr));
  return call(LaneOp::negate, base, {std::move(expr)}, vector(base));
}

Expr LaneValues::complement(Expr expr) const {
  const Base base = expr.type.base;
  if (!kernel::is_complex(base)) return unary(UnaryOp::bit_not, std::move(expr));
  return call(LaneOp::call, base, {std::move(expr)}, vector(base),
              base == Base::complex64 ? "conjf" : "conj");
}

Expr LaneValues::blend(Base base, Expr mask, Expr on, Expr off) const {
  return call(LaneOp::blend, base, {std::move(mask), std::move(on), std::move(off)}, vector(base));
}

/// Where two complex values are equal, as a mask for them.
Expr LaneValues::same(Expr left, Expr right) const {
  const Base base = left.type.base;
  return call(LaneOp::equal, base, {std::move(left), std::move(right)},
              vector(kernel::mask_base(base)));
}

Expr LaneValues::compared(BinaryOp op, Base base, Expr left, Expr right) const {
  if (kernel::is_complex(base)) {
    Expr equal = same(std::move(left), std::move(right));
    if (op == BinaryOp::not_equal) equal = unary(UnaryOp::bit_not, std::move(equal));
    return to(mask_, std::move(equal), true);
  }
  Expr found = binary(op, std::move(left), std::move(right), vector(kernel::mask_base(base)));
  return to(mask_, std::move(found), true);
}

Expr LaneValues::nonzero(Expr expr) const {
  const Base base = expr.type.base;
  return compared(BinaryOp::not_equal, base, std::move(expr), to(base, zero(), true));
}

Expr LaneValues::spread_condition(Expr condition) const {
  Expr is_set =
      binary(BinaryOp::not_equal, std::move(condition), zero(), kernel::scalar(Base::int32));
  return to(mask_, unary(UnaryOp::minus, std::move(is_set)), true);
}

Expr LaneValues::truth(Expr mask) const {
  return unary(UnaryOp::minus, to(Base::int32, std::move(mask), true));
}

Expr LaneValues::mask_for(Base base, Expr mask) const {
  return to(kernel::mask_base(base), std::move(mask), true);
}

Expr LaneValues::both(Expr left, Expr right) {
  Type type = left.type;
  return binary(BinaryOp::bit_and, std::move(left), std::move(right), std::move(type));
}

}  // namespace op2::lower
