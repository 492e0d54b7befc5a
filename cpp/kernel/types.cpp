// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/types.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/dtype.hpp"
#include "kernel/known_functions.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

Type arithmetic(const Type& left, const Type& right) {
  if (!left.is_scalar() || !right.is_scalar()) return Type{};
  return scalar(common_base(left.base, right.base));
}

Type unqualified(Type type) {
  if (type.derivation.empty()) {
    type.is_const = false;
  } else {
    type.derivation.front().is_const = false;
    type.derivation.front().is_restrict = false;
  }
  return type;
}

Type additive(BinaryOp op, const Type& left, const Type& right) {
  const bool left_points = !left.derivation.empty();
  const bool right_points = !right.derivation.empty();
  if (left_points && right_points) return scalar(Base::int64);
  if (left_points) return value_type(left);
  if (right_points && op == BinaryOp::add) return value_type(right);
  return arithmetic(left, right);
}

Type binary_type(BinaryOp op, const Type& left, const Type& right) {
  switch (op) {
    case BinaryOp::multiply:
    case BinaryOp::divide:
    case BinaryOp::modulo:
    case BinaryOp::bit_and:
    case BinaryOp::bit_xor:
    case BinaryOp::bit_or:
      return arithmetic(left, right);
    case BinaryOp::add:
    case BinaryOp::subtract:
      return additive(op, left, right);
    case BinaryOp::shift_left:
    case BinaryOp::shift_right:
      return left.is_scalar() ? scalar(promoted(left.base)) : Type{};
    case BinaryOp::less:
    case BinaryOp::greater:
    case BinaryOp::less_equal:
    case BinaryOp::greater_equal:
    case BinaryOp::equal:
    case BinaryOp::not_equal:
    case BinaryOp::logical_and:
    case BinaryOp::logical_or:
      return scalar(Base::int32);
    case BinaryOp::comma:
      return value_type(right);
  }
  return Type{};
}

Type unary(UnaryOp op, const Type& argument) {
  switch (op) {
    case UnaryOp::plus:
    case UnaryOp::minus:
    case UnaryOp::bit_not:
      return argument.is_scalar() ? scalar(promoted(argument.base)) : Type{};
    case UnaryOp::logical_not:
      return scalar(Base::int32);
    case UnaryOp::dereference:
      return element_of(argument);
    case UnaryOp::address:
      return argument.is_known() ? pointer_to(argument) : Type{};
    case UnaryOp::pre_increment:
    case UnaryOp::pre_decrement:
    case UnaryOp::post_increment:
    case UnaryOp::post_decrement:
      return value_type(argument);
  }
  return Type{};
}

Type ternary(const Type& left, const Type& right) {
  if (!left.derivation.empty()) return value_type(left);
  if (!right.derivation.empty()) return value_type(right);
  if (left.base == Base::none && right.base == Base::none) return left;
  if (left.base == Base::structure) return value_type(left);
  return arithmetic(left, right);
}

/// `2[x]` is C for `x[2]`; everything behind looks for the array in front.
void put_array_first(std::vector<Expr>& operands) {
  const bool is_swapped =
      operands[0].type.derivation.empty() && !operands[1].type.derivation.empty();
  if (is_swapped) std::swap(operands[0], operands[1]);
}

class Inference {
 public:
  explicit Inference(const KernelBody& body) : body_(body) {}

  void enter() { names_.enter(); }
  void leave() { names_.leave(); }
  void declare(const Variable& variable) { names_.declare(variable.name, variable.type); }
  void declare(const Parameter& parameter) {
    names_.declare(parameter.name, decayed(parameter.type));
  }

  void expression(Expr& expr) {
    for (Expr& operand : expr.operands) expression(operand);
    if (std::holds_alternative<Index>(expr.node)) put_array_first(expr.operands);
    expr.type = type_of(expr);
  }

 private:
  [[nodiscard]] Type type_of(const Expr& expr) const {
    const auto operand = [&expr](std::size_t i) -> const Type& { return expr.operands[i].type; };
    return std::visit(
        overload{
            [](const Literal& node) { return type_of_literal(node.spelling); },
            [this](const Name& node) {
              const Type* type = names_.find(node.name);
              return type == nullptr ? Type{} : *type;
            },
            [&operand](const Unary& node) { return unary(node.op, operand(0)); },
            [&operand](const Binary& node) { return binary_type(node.op, operand(0), operand(1)); },
            [&operand](const Assign&) { return value_type(operand(0)); },
            [&operand](const Ternary&) { return ternary(operand(1), operand(2)); },
            [&operand](const Index&) { return element_of(operand(0)); },
            [this, &operand](const MemberOf& node) { return type_of_member(node, operand(0)); },
            [this, &expr](const Call& node) { return type_of_call(node, expr); },
            [](const Cast& node) { return value_type(node.target); },
            [](const SizeOf&) { return scalar(Base::uint64); },
            [](const InitList&) { return Type{}; }},
        expr.node);
  }

  [[nodiscard]] Type type_of_member(const MemberOf& node, const Type& structure) const {
    const Structure* known =
        structure.derivation.empty() ? body_.structure(structure.tag) : nullptr;
    if (known == nullptr) return Type{};
    const auto member = std::ranges::find(known->members, node.name, &Parameter::name);
    if (member == known->members.end()) return Type{};
    Type type = member->type;
    if (structure.is_const && type.is_pointer()) type.derivation.front().is_const = true;
    if (structure.is_const && !type.is_pointer()) type.is_const = true;
    return type;
  }

  [[nodiscard]] Type type_of_call(const Call& call, const Expr& expr) const {
    if (call.function == "__builtin_complex" && !expr.operands.empty()) {
      const bool is_single = expr.operands.front().type.base == Base::float32;
      return scalar(is_single ? Base::complex64 : Base::complex128);
    }
    if (const FunctionDef* function = body_.function(call.function)) return function->result;
    if (const KnownFunction* known = known_function(call.function)) return known->result;
    return Type{};
  }

  const KernelBody& body_;
  ScopeStack<Type> names_;
};

}  // namespace

Type value_type(const Type& type) {
  return unqualified(decayed(type));
}

Base promoted(Base base) {
  const bool is_narrow = base == Base::boolean || base == Base::int8 || base == Base::int16 ||
                         base == Base::uint8 || base == Base::uint16;
  return is_narrow ? Base::int32 : base;
}

// C11 6.3.1.8, for the scalars there are.
Base common_base(Base left, Base right) {
  left = promoted(left);
  right = promoted(right);
  if (left == Base::unknown || right == Base::unknown) return Base::unknown;
  if (is_floating(left) || is_floating(right)) {
    const auto is_wide = [](Base base) {
      return base == Base::float64 || base == Base::complex128;
    };
    const bool wide = is_wide(left) || is_wide(right);
    if (is_complex(left) || is_complex(right)) return wide ? Base::complex128 : Base::complex64;
    return wide ? Base::float64 : Base::float32;
  }
  // The wider wins, and of equal widths the unsigned: which is the order of this list.
  for (const Base base : {Base::uint64, Base::int64, Base::uint32}) {
    if (left == base || right == base) return base;
  }
  return Base::int32;
}

namespace {

bool is_hexadecimal(std::string_view spelling) {
  return spelling.starts_with("0x") || spelling.starts_with("0X");
}

bool is_floating_literal(std::string_view spelling) {
  const char first = spelling.front();
  if (first == '"' || first == '\'') return false;
  return spelling.find_first_of(is_hexadecimal(spelling) ? ".pP" : ".eE") != std::string_view::npos;
}

}  // namespace

bool is_long_double(std::string_view spelling) {
  return is_floating_literal(spelling) && (spelling.back() == 'l' || spelling.back() == 'L');
}

Type type_of_literal(std::string_view spelling) {
  const char first = spelling.front();
  if (first == '"') return pointer_to(scalar(Base::int8));
  if (first == '\'') return scalar(Base::int32);
  const bool is_hex = is_hexadecimal(spelling);
  if (is_floating_literal(spelling)) {
    const char last = spelling.back();
    return scalar(last == 'f' || last == 'F' ? Base::float32 : Base::float64);
  }
  const bool is_unsigned = spelling.find_first_of("uU") != std::string_view::npos;
  const bool is_long = spelling.find_first_of("lL") != std::string_view::npos;
  std::uint64_t value = 0;
  const std::string_view digits = is_hex ? spelling.substr(2) : spelling;
  const int radix = is_hex ? 16 : (first == '0' ? 8 : 10);
  std::from_chars(digits.data(), digits.data() + digits.size(), value, radix);
  constexpr auto max_int = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
  const bool may_be_unsigned = is_unsigned || radix != 10;
  if (!is_long && !is_unsigned && value <= max_int) return scalar(Base::int32);
  if (!is_long && may_be_unsigned && value <= 2 * max_int + 1) return scalar(Base::uint32);
  const bool fits_long = value <= std::numeric_limits<std::int64_t>::max();
  return scalar(is_unsigned || !fits_long ? Base::uint64 : Base::int64);
}

KernelBody infer_types(KernelBody body) {
  Inference inference(body);
  inference.enter();
  for (Variable& table : body.tables) {
    inference.declare(table);
    if (table.value) inference.expression(*table.value);
  }
  for (FunctionDef& function : body.functions) {
    inference.enter();
    for (const Parameter& parameter : function.parameters) inference.declare(parameter);
    inference.enter();
    walk_scoped(function.body, inference);
    inference.leave();
    inference.leave();
  }
  inference.leave();
  return body;
}

}  // namespace op2::kernel
