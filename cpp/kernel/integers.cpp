// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/integers.hpp"

#include <charconv>
#include <limits>

#include "base/overload.hpp"
#include "kernel/held_constants.hpp"
#include "kernel/types.hpp"

namespace op2::kernel {
namespace {

struct Start {
  std::string name;
  std::int64_t value;
};

std::optional<Start> start_of(const For& loop, const Integers& known) {
  if (loop.init.empty()) return std::nullopt;
  const Expr* value = nullptr;
  std::string name;
  if (const auto* declared = std::get_if<Declare>(&loop.init.front().node)) {
    const Variable& variable = declared->variables.front();
    name = variable.name;
    if (variable.value) value = &*variable.value;
  }
  if (const auto* evaluated = std::get_if<Evaluate>(&loop.init.front().node)) {
    const Expr& expr = evaluated->value;
    const auto* assign = std::get_if<Assign>(&expr.node);
    if (assign == nullptr || assign->op) return std::nullopt;
    const auto* target = std::get_if<Name>(&expr.operands[0].node);
    if (target == nullptr) return std::nullopt;
    name = target->name;
    value = &expr.operands[1];
  }
  const auto start = value == nullptr ? std::nullopt : integer_value(*value, known);
  if (!start) return std::nullopt;
  return Start{.name = name, .value = *start};
}

bool names(const Expr& expr, const std::string& name) {
  const auto* node = std::get_if<Name>(&expr.node);
  return node != nullptr && node->name == name;
}

std::optional<std::int64_t> stride_of(const Expr& step, const std::string& name,
                                      const Integers& known) {
  if (step.operands.empty() || !names(step.operands[0], name)) return std::nullopt;
  if (const auto* unary = std::get_if<Unary>(&step.node)) {
    if (unary->op == UnaryOp::pre_increment || unary->op == UnaryOp::post_increment) return 1;
    if (unary->op == UnaryOp::pre_decrement || unary->op == UnaryOp::post_decrement) return -1;
  }
  const auto* assign = std::get_if<Assign>(&step.node);
  if (assign == nullptr || !assign->op) return std::nullopt;
  const auto amount = integer_value(step.operands[1], known);
  if (!amount) return std::nullopt;
  if (*assign->op == BinaryOp::add) return *amount;
  if (*assign->op == BinaryOp::subtract) return -*amount;
  return std::nullopt;
}

/// A value that its type holds; what C would wrap or cut off is not followed.
std::optional<std::int64_t> held_by(const Type& type, std::optional<std::int64_t> value) {
  const bool is_cut =
      value && type.is_scalar() && is_integer(type.base) && !keeps(type.base, *value);
  return is_cut ? std::nullopt : value;
}

/// What C converts both operands to; nothing where it leaves them as they are.
Type operand_type(BinaryOp op, const Expr& expr) {
  const Type& left = expr.operands[0].type;
  const Type& right = expr.operands[1].type;
  const bool is_kept = op == BinaryOp::shift_left || op == BinaryOp::shift_right ||
                       op == BinaryOp::logical_and || op == BinaryOp::logical_or ||
                       op == BinaryOp::comma;
  if (is_kept || !left.is_scalar() || !right.is_scalar()) return Type{};
  return scalar(common_base(left.base, right.base));
}

}  // namespace

std::optional<std::int64_t> integer_of(std::string_view literal) {
  const auto end = literal.find_last_not_of("uUlL");
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view digits = literal.substr(0, end + 1);
  int radix = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    digits.remove_prefix(2);
    radix = 16;
  } else if (digits.size() > 1 && digits.front() == '0') {
    radix = 8;
  }
  std::int64_t value = 0;
  const auto [stop, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, radix);
  if (error != std::errc{} || stop != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> apply(BinaryOp op, std::int64_t left, std::int64_t right) {
  constexpr std::int64_t limit = std::int64_t{1} << 31;  // far from where int64 overflows
  if (left > limit || left < -limit || right > limit || right < -limit) return std::nullopt;
  const bool shifts = right >= 0 && right < 31 && left >= 0;
  switch (op) {
    case BinaryOp::multiply:
      return left * right;
    case BinaryOp::divide:
      return right == 0 ? std::nullopt : std::optional(left / right);
    case BinaryOp::modulo:
      return right == 0 ? std::nullopt : std::optional(left % right);
    case BinaryOp::add:
      return left + right;
    case BinaryOp::subtract:
      return left - right;
    case BinaryOp::shift_left:
      return shifts ? std::optional(left << right) : std::nullopt;
    case BinaryOp::shift_right:
      return shifts ? std::optional(left >> right) : std::nullopt;
    case BinaryOp::less:
      return left < right ? 1 : 0;
    case BinaryOp::greater:
      return left > right ? 1 : 0;
    case BinaryOp::less_equal:
      return left <= right ? 1 : 0;
    case BinaryOp::greater_equal:
      return left >= right ? 1 : 0;
    case BinaryOp::equal:
      return left == right ? 1 : 0;
    case BinaryOp::not_equal:
      return left != right ? 1 : 0;
    case BinaryOp::bit_and:
      return left & right;
    case BinaryOp::bit_xor:
      return left ^ right;
    case BinaryOp::bit_or:
      return left | right;
    case BinaryOp::logical_and:
      return left != 0 && right != 0 ? 1 : 0;
    case BinaryOp::logical_or:
      return left != 0 || right != 0 ? 1 : 0;
    case BinaryOp::comma:
      return right;
  }
  return std::nullopt;
}

std::optional<std::int64_t> apply(UnaryOp op, std::int64_t value) {
  switch (op) {
    case UnaryOp::plus:
      return value;
    case UnaryOp::minus:
      return -value;
    case UnaryOp::bit_not:
      return ~value;
    case UnaryOp::logical_not:
      return value == 0 ? 1 : 0;
    case UnaryOp::dereference:
    case UnaryOp::address:
    case UnaryOp::pre_increment:
    case UnaryOp::pre_decrement:
    case UnaryOp::post_increment:
    case UnaryOp::post_decrement:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::int64_t> integer_value(const Expr& expr, const Integers& known) {
  const auto operand = [&expr, &known](std::size_t i) {
    return integer_value(expr.operands[i], known);
  };
  using Value = std::optional<std::int64_t>;
  return std::visit(
      overload{[](const Literal& node) { return integer_of(node.spelling); },
               [&known](const Name& node) -> Value {
                 const auto found = known.find(node.name);
                 if (found == known.end()) return std::nullopt;
                 return found->second;
               },
               [&expr, &operand](const Unary& node) -> Value {
                 const Value value = operand(0);
                 return value ? held_by(expr.type, apply(node.op, *value)) : std::nullopt;
               },
               [&expr, &operand](const Binary& node) -> Value {
                 const Type common = operand_type(node.op, expr);
                 const Value left = held_by(common, operand(0));
                 const Value right = held_by(common, operand(1));
                 if (!left || !right) return std::nullopt;
                 return held_by(expr.type, apply(node.op, *left, *right));
               },
               [](const Assign&) { return Value{}; },
               [&operand](const Ternary&) -> Value {
                 const Value condition = operand(0);
                 if (!condition) return std::nullopt;
                 return operand(*condition != 0 ? 1 : 2);
               },
               [](const Index&) { return Value{}; }, [](const MemberOf&) { return Value{}; },
               [](const Call&) { return Value{}; },
               [&expr, &operand](const Cast&) {
                 return is_integer(expr.type.base) ? held_by(expr.type, operand(0)) : Value{};
               },
               [](const SizeOf&) { return Value{}; }, [](const InitList&) { return Value{}; }},
      expr.node);
}

Integers constant_integers(const KernelBody& body) {
  Integers known;
  for (const Variable& table : body.tables) {
    if (!table.value || !table.type.is_scalar() || !is_integer(table.type.base)) continue;
    const auto value = integer_value(*table.value, known);
    if (value && keeps(table.type.base, *value)) known[table.name] = *value;
  }
  return known;
}

std::optional<Counted> counted(const For& loop, const Integers& known) {
  const auto start = start_of(loop, known);
  if (!start || !loop.condition || !loop.step) return std::nullopt;
  const auto stride = stride_of(*loop.step, start->name, known);
  if (!stride || *stride == 0) return std::nullopt;
  const auto* test = std::get_if<Binary>(&loop.condition->node);
  if (test == nullptr || !names(loop.condition->operands[0], start->name)) return std::nullopt;
  const auto bound = integer_value(loop.condition->operands[1], known);
  if (!bound) return std::nullopt;
  const std::int64_t distance = *stride > 0 ? *bound - start->value : start->value - *bound;
  const std::int64_t pace = *stride > 0 ? *stride : -*stride;
  const bool upward = test->op == BinaryOp::less || test->op == BinaryOp::less_equal;
  const bool downward = test->op == BinaryOp::greater || test->op == BinaryOp::greater_equal;
  const auto times = [&](std::int64_t n) {
    return Counted{.name = start->name, .first = start->value, .stride = *stride, .n = n};
  };
  if (test->op == BinaryOp::not_equal && distance % pace == 0 && distance >= 0) {
    return times(distance / pace);
  }
  if (!(*stride > 0 ? upward : downward)) return std::nullopt;
  const bool inclusive = test->op == BinaryOp::less_equal || test->op == BinaryOp::greater_equal;
  const std::int64_t reach = distance + (inclusive ? 1 : 0);
  return times(reach <= 0 ? 0 : (reach + pace - 1) / pace);
}

std::optional<std::int64_t> trip_count(const For& loop, const Integers& known) {
  const auto found = counted(loop, known);
  return found ? std::optional(found->n) : std::nullopt;
}

}  // namespace op2::kernel
