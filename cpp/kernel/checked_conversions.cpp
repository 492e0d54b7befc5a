// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include "base/dtype.hpp"
#include "kernel/checked_function.hpp"
#include "kernel/make.hpp"
#include "kernel/types.hpp"

namespace op2::kernel {
namespace {

/// The integers between two numbers.
struct Span {
  std::int64_t low = 0;
  std::int64_t high = 0;
  bool is_all = true;  ///< false: there are larger ones, beyond 63 bits

  [[nodiscard]] bool holds(const Span& other) const {
    return low <= other.low && other.high <= high && other.is_all;
  }
};

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

int bits_of(Base base) {
  const auto dtype = dtype_of(base);
  return dtype ? static_cast<int>(size_of(*dtype)) * 8 : 1;
}

/// What an integer type holds.
Span span_of(Base base) {
  if (base == Base::boolean) return {0, 1};
  const int n_bits = bits_of(base);
  const bool is_signed = has_sign(base);
  const std::int64_t high =
      n_bits == 64 ? largest : (std::int64_t{1} << (n_bits - (is_signed ? 1 : 0))) - 1;
  return {is_signed ? -high - 1 : 0, high, is_signed || n_bits < 64};
}

Span hull(const Span& a, const Span& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.is_all && b.is_all};
}

Span span_of(const Expr& expr);

/// What a literal on the right leaves of the values on the left.
Span span_of(BinaryOp op, const Expr& expr) {
  const Span whole = span_of(expr.type.base);
  const bool compares = op >= BinaryOp::less && op <= BinaryOp::not_equal;
  if (compares || op == BinaryOp::logical_and || op == BinaryOp::logical_or) return {0, 1};
  const auto right = make::value_of(expr.operands[1]);
  if (!right || *right <= 0) return whole;
  if (op == BinaryOp::bit_and) return {0, *right};
  if (op != BinaryOp::modulo) return whole;
  return {whole.low < 0 ? 1 - *right : 0, *right - 1};
}

Span span_of(const Expr& expr) {
  const Span whole = span_of(expr.type.base);
  const auto known = make::value_of(expr);
  if (known && whole.holds({*known, *known})) return {*known, *known};
  if (std::holds_alternative<Ternary>(expr.node)) {
    const Span either = hull(span_of(expr.operands[1]), span_of(expr.operands[2]));
    // a negative number that becomes unsigned is large
    return whole.holds(either) ? either : whole;
  }
  if (const auto* binary = std::get_if<Binary>(&expr.node)) {
    if (binary->op == BinaryOp::comma) return span_of(expr.operands[1]);
    return span_of(binary->op, expr);
  }
  const auto* unary = std::get_if<Unary>(&expr.node);
  if (unary != nullptr && unary->op == UnaryOp::logical_not) return {0, 1};
  return whole;
}

bool is_real(Base base) {
  return base == Base::float32 || base == Base::float64;
}

}  // namespace

bool has_sign(Base base) {
  const auto dtype = dtype_of(base);
  return dtype && is_signed_integer(*dtype);
}

/// @p value, of type @p from, watched where a variable of type @p to cannot hold it. What C wraps,
/// as it does with all that goes into an unsigned integer, is meant so.
Expr CheckedFunction::fitted(const Expr& site, Expr value, Base from, Base to) {
  const bool is_whole = is_integer(from) && has_sign(to) && !span_of(to).holds(span_of(from));
  if (!is_whole && !(is_real(from) && is_integer(to) && to != Base::boolean)) return value;
  std::vector<Expr> arguments{std::move(value), make::number(bits_of(to))};
  if (is_whole) {
    // what is beyond 64 bits with a sign would be negative in them
    const std::string function = from == Base::uint64 ? "op2_fits_half" : "op2_fits";
    return make::cast(scalar(to), report(function, std::move(arguments), Check::conversion, site));
  }
  arguments.push_back(make::number(has_sign(to) ? 1 : 0));
  return make::cast(scalar(to),
                    report("op2_truncated", std::move(arguments), Check::truncation, site));
}

/// @p checked, which computes @p original, as a variable of @p target gets it.
Expr CheckedFunction::converted(const Expr& original, Expr checked, const Type& target) {
  if (std::holds_alternative<InitList>(original.node) && target.is_array()) {
    Type element = target;
    element.derivation.erase(element.derivation.begin());
    for (std::size_t i = 0; i < original.operands.size(); ++i) {
      checked.operands[i] =
          converted(original.operands[i], std::move(checked.operands[i]), element);
    }
    return checked;
  }
  if (!target.is_scalar() || !is_integer(target.base)) {
    return finite(original, std::move(checked), target);
  }
  const bool is_known = is_integer(original.type.base) && original.type.is_scalar() &&
                        span_of(target.base).holds(span_of(original));
  if (is_known || !original.type.is_scalar()) return checked;
  return fitted(original, std::move(checked), original.type.base, target.base);
}

/// `left << n_bits` in a signed @p type, of which no bit may be lost.
Expr CheckedFunction::shifted(const Expr& site, Expr left, Expr n_bits, const Type& type) {
  const std::int64_t is_wide = type.base == Base::int64 ? 1 : 0;
  return make::cast(
      type,
      report_overflow("op2_shifted", {std::move(left), std::move(n_bits), make::number(is_wide)},
                      is_wide != 0, site));
}

}  // namespace op2::kernel
