// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/dtype.hpp"
#include "kernel/checked_function.hpp"
#include "kernel/effects.hpp"
#include "kernel/make.hpp"
#include "kernel/types.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

bool is_float_scalar(const Type& type) {
  return type.derivation.empty() && is_floating(type.base);
}

/// What C writes as INFINITY and NAN.
bool is_not_finite_by_name(const Call& call) {
  return call.function.starts_with("__builtin_inf") || call.function.starts_with("__builtin_nan") ||
         call.function.starts_with("__builtin_huge");
}

bool any(const Expr& expr, const auto& holds) {
  bool found = false;
  for_each_expr(expr, [&](const Expr& part) { found = found || holds(part); });
  return found;
}

bool is_wider(Base from, Base to) {
  const bool from_wide = from == Base::float64 || from == Base::complex128;
  const bool to_narrow = to == Base::float32 || to == Base::complex64;
  return from_wide && to_narrow;
}

Expr is_finite(const Expr& value) {
  return make::binary(BinaryOp::equal, make::binary(BinaryOp::subtract, value, value),
                      make::number(0));
}

}  // namespace

std::string CheckedFunction::temporary(const Type& type) {
  const std::string name = fmt::format("op2_v{}", declarations_.size());
  Type plain = scalar(type.base);
  declarations_.push_back(make::declare(name, plain, make::number(0)));
  return name;
}

/// Whether evaluating @p original can make a value that is not finite of values that are. What a
/// function of the kernel returns is looked at there.
bool CheckedFunction::may_make(const Expr& original, const Type& target) const {
  const auto* own = std::get_if<Call>(&original.node);
  if (own != nullptr && kernel_.body.function(own->function) != nullptr) return false;
  if (!is_float_scalar(target)) return false;
  const auto computes = [](const Expr& part) {
    const auto* binary = std::get_if<Binary>(&part.node);
    const bool is_sum = binary != nullptr && binary->op <= BinaryOp::subtract;
    return (is_sum || std::holds_alternative<Call>(part.node)) && is_float_scalar(part.type);
  };
  const auto narrows = [](const Expr& part) {
    return std::holds_alternative<Cast>(part.node) &&
           is_wider(part.operands[0].type.base, part.type.base);
  };
  const auto is_named = [](const Expr& part) {
    const auto* call = std::get_if<Call>(&part.node);
    return call != nullptr && is_not_finite_by_name(*call);
  };
  const auto varies = [](const Expr& part) {
    return std::holds_alternative<Name>(part.node) || std::holds_alternative<Index>(part.node);
  };
  const bool makes = any(original, computes) || any(original, narrows) ||
                     is_wider(original.type.base, target.base);
  return makes && !any(original, is_named) && any(original, varies);
}

/// The values that an expression is computed from.
void CheckedFunction::leaves(const Expr& expr, std::vector<Expr>& found) {
  if (is_float_scalar(expr.type) || !expr.type.is_known()) {
    const auto* unary = std::get_if<Unary>(&expr.node);
    const bool is_place = std::holds_alternative<Name>(expr.node) ||
                          std::holds_alternative<Index>(expr.node) ||
                          (unary != nullptr && unary->op == UnaryOp::dereference);
    if (is_place) {
      found.push_back(place(expr, std::nullopt));
      return;
    }
  }
  if (!expr.type.derivation.empty() || std::holds_alternative<SizeOf>(expr.node)) return;
  if (std::holds_alternative<Index>(expr.node)) return;
  for (const Expr& operand : expr.operands) leaves(operand, found);
}

Expr CheckedFunction::finite(const Expr& original, Expr checked, const Type& target) {
  if (!may_make(original, target)) return checked;
  std::vector<Expr> given;
  leaves(original, given);
  return made_of(original, std::move(checked), target, given);
}

/// @p checked, watched: not finite, although all of @p given are.
Expr CheckedFunction::made_of(const Expr& site, Expr checked, const Type& target,
                              const std::vector<Expr>& given) {
  if (kernel_.suspects) return suspected(site, std::move(checked), target);
  const Expr held = make::name(temporary(target));
  Expr were_finite = make::number(1);
  for (const Expr& value : given) {
    Expr one = is_finite(value);
    were_finite = make::value_of(were_finite)
                      ? std::move(one)
                      : make::binary(BinaryOp::logical_and, std::move(were_finite), std::move(one));
  }
  Expr watch = make::ternary(
      is_finite(held), make::number(0),
      report("op2_made", {std::move(were_finite), make::binary(BinaryOp::not_equal, held, held)},
             Check::made, site));
  return make::comma(make::comma(make::assign(held, std::move(checked)), std::move(watch)), held);
}

/// @p checked, and its difference to itself summed: 0, or NaN where it is not finite.
Expr CheckedFunction::suspected(const Expr& site, Expr checked, const Type& target) {
  static_cast<void>(kernel_.sites.number(Check::made, site, target_));
  if (is_complex(target.base)) kernel_.needs_bits = true;  // a sum of reals tells one part
  const Expr held = make::name(temporary(target));
  Expr sum = make::of(Assign{BinaryOp::add},
                      {make::index(make::name("op2_check"), make::number(0)),
                       make::binary(BinaryOp::subtract, held, held)},
                      site.line);
  return make::comma(make::comma(make::assign(held, std::move(checked)), std::move(sum)), held);
}

Expr CheckedFunction::divisor(const Expr& site, Expr value, const Type& type) {
  if (const auto known = make::value_of(value); known && *known != 0) return value;
  Expr wide = make::cast(scalar(Base::int64), std::move(value));
  return make::cast(scalar(promoted(type.base)),
                    report("op2_divisor", {std::move(wide)}, Check::divisor, site));
}

Expr CheckedFunction::shift(const Expr& site, Expr value, const Type& left) {
  const auto dtype = dtype_of(promoted(left.base));
  const auto n_bits = dtype ? static_cast<std::int64_t>(size_of(*dtype)) * 8 : 32;
  Expr wide = make::cast(scalar(Base::int64), std::move(value));
  return make::cast(
      scalar(Base::int32),
      report("op2_shift", {std::move(wide), make::number(n_bits)}, Check::shift, site));
}

/// Of an overflow it matters how many bits the result has.
Expr CheckedFunction::report_overflow(std::string function, std::vector<Expr> arguments,
                                      bool is_wide, const Expr& site) {
  const std::int64_t extent = std::exchange(target_.extent, is_wide ? 64 : 32);
  Expr made = report(std::move(function), std::move(arguments), Check::overflow, site);
  target_.extent = extent;
  return made;
}

/// A value in int64_t, as an int.
Expr CheckedFunction::narrow(const Expr& expr, Expr value) {
  return make::cast(scalar(Base::int32),
                    report_overflow("op2_narrow", {std::move(value)}, false, expr));
}

/// `left / right` or `left % right`, computed in @p type.
Expr CheckedFunction::quotient(BinaryOp op, const Expr& expr, Expr left, Expr right,
                               const Type& type) {
  const auto known = make::value_of(right);
  right = divisor(expr, std::move(right), type);
  const bool is_signed = type.base == Base::int32 || type.base == Base::int64;
  if (!is_signed || (known && *known != -1)) {
    return make::binary(op, std::move(left), std::move(right));
  }
  // only the least number divided by -1 does not fit, and machines stop at it
  const std::string function = op == BinaryOp::divide ? "op2_quotient" : "op2_remainder";
  const std::int64_t is_wide = type.base == Base::int64 ? 1 : 0;
  Expr made = report_overflow(function, {std::move(left), std::move(right), make::number(is_wide)},
                              is_wide != 0, expr);
  return make::cast(type, std::move(made));
}

/// `left op right`, as its type can hold it.
Expr CheckedFunction::in_range(BinaryOp op, const Expr& expr, Expr left, Expr right,
                               const Type& type) {
  const Type wide = scalar(Base::int64);
  if (type.base == Base::int32) {
    Expr both =
        make::binary(op, make::cast(wide, std::move(left)), make::cast(wide, std::move(right)));
    return narrow(expr, std::move(both));
  }
  if (type.base != Base::int64) return make::binary(op, std::move(left), std::move(right));
  const std::string function = op == BinaryOp::add        ? "op2_sum"
                               : op == BinaryOp::subtract ? "op2_difference"
                                                          : "op2_product";
  return report_overflow(function, {std::move(left), std::move(right)}, true, expr);
}

}  // namespace op2::kernel
