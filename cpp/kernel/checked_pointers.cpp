// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/checked_pointers.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/overload.hpp"
#include "kernel/effects.hpp"
#include "kernel/make.hpp"
#include "kernel/plain.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

constexpr std::int64_t far = std::int64_t{1} << 60;

Type integer() {
  return scalar(Base::int64);
}
Type bits_type() {
  return pointer_to(scalar(Base::uint8));
}
std::string low_of(const std::string& name) {
  return "op2_low_" + name;
}
std::string high_of(const std::string& name) {
  return "op2_high_" + name;
}
std::string who_of(const std::string& name) {
  return "op2_who_" + name;
}

// Pointers that are assigned, stepped, or reached through their own addresses.
std::set<std::string> changed_in(const Body& body, bool through_addresses) {
  std::set<std::string> names;
  for_each_expr_in(body, [&names, through_addresses](const Expr& expr) {
    const auto* unary = std::get_if<Unary>(&expr.node);
    const bool points = unary != nullptr && unary->op == UnaryOp::address;
    if (through_addresses ? !points : !is_store(expr)) return;
    if (const auto* name = std::get_if<Name>(&expr.operands[0].node)) names.insert(name->name);
  });
  return names;
}

// Nobody writes them, and they have all values, so that they have no bits.
std::set<std::string> tables_in(const Body& body) {
  std::set<std::string> names;
  for_each_body(body, [&names](const Body& inner) {
    for (const Stmt& stmt : inner) {
      const auto* found = std::get_if<Declare>(&stmt.node);
      if (found == nullptr || !found->is_static) continue;
      for (const Variable& variable : found->variables) names.insert(variable.name);
    }
  });
  return names;
}

Reach unknown_reach() {
  return {make::number(-far), make::number(far), make::number(-1), make::number(0)};
}

}  // namespace

bool CheckedPointers::is_followed(const Type& type) {
  if (type.derivation.empty() || type.base == Base::none || !type.is_known()) return false;
  for (std::size_t i = 1; i < type.derivation.size(); ++i) {
    if (type.derivation[i].kind == Derivation::Kind::pointer) return false;
  }
  return true;
}

CheckedPointers::CheckedPointers(const FunctionDef& function, const KernelBody& body,
                                 const CheckInput& input, bool has_bits,
                                 std::function<Expr(const Expr&)> value)
    : input_(input), has_bits_(has_bits), value_(std::move(value)) {
  const bool is_entry = &function == &body.entry();
  const std::set<std::string> changed = changed_in(function.body, false);
  const std::set<std::string> lost = changed_in(function.body, true);
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter& parameter = function.parameters[i];
    if (!is_followed(parameter.type) || lost.contains(parameter.name)) continue;
    if (!is_entry) {
      companions_.emplace(parameter.name, decayed(parameter.type));
      parameters_.insert(parameter.name);
      continue;
    }
    const std::int64_t extent = i < input.run.extents.size() ? input.run.extents[i] : -1;
    const auto rows = input.rows.find(static_cast<int>(i));
    if (extent < 0 && rows == input.rows.end()) continue;
    Fixed fixed{make::number(extent), static_cast<int>(i), input.accesses[i].has_value()};
    if (rows != input.rows.end()) {
      fixed.extent = make::number(rows->second.dim);
      for (const int counts : rows->second.counts) {
        const Parameter& given = function.parameters[static_cast<std::size_t>(counts)];
        const Expr count = make::index(make::name(given.name), make::number(0));
        fixed.extent =
            make::binary(BinaryOp::multiply, make::cast(integer(), count), std::move(fixed.extent));
      }
    }
    if (changed.contains(parameter.name)) {
      companions_.emplace(parameter.name, decayed(parameter.type));
      start_.emplace(parameter.name, fixed);
    } else {
      fixed_.emplace(parameter.name, fixed);
    }
  }
  struct Locals {
    CheckedPointers& self;
    const std::set<std::string>& lost;
    void enter() {}
    void leave() {}
    void expression(const Expr& /*expr*/) {}
    void declare(const Variable& variable) {
      if (variable.type.is_array() && is_followed(variable.type))
        self.arrays_.insert(variable.name);
      if (variable.type.is_pointer() && is_followed(variable.type) &&
          !lost.contains(variable.name)) {
        self.companions_.emplace(variable.name, variable.type);
      }
    }
  };
  Locals locals{*this, lost};
  walk_scoped(function.body, locals);
  for (const std::string& name : tables_in(function.body)) arrays_.erase(name);
}

Reach CheckedPointers::reach_of(const Fixed& fixed, const std::string& name) const {
  return {make::number(0), fixed.extent, make::number(fixed.parameter),
          has_bits_ && fixed.is_watched ? make::name(bits_of(name)) : make::number(0)};
}

std::optional<Reach> CheckedPointers::of_name(const Expr& expr, const std::string& name) const {
  if (const auto found = fixed_.find(name); found != fixed_.end()) {
    return reach_of(found->second, name);
  }
  if (companions_.contains(name)) {
    return Reach{make::name(low_of(name)), make::name(high_of(name)), make::name(who_of(name)),
                 has_bits_ ? make::name(bits_of(name)) : make::number(0), has_bits_};
  }
  const auto constant = input_.run.constants.find(name);
  const bool is_array = expr.type.is_array() && expr.type.derivation[0].extent >= 0;
  if (is_array) {
    const bool is_watched = has_bits_ && arrays_.contains(name);
    return Reach{make::number(0), make::number(n_scalars(expr.type)), make::number(-1),
                 is_watched ? make::name(bits_of(name)) : make::number(0)};
  }
  if (constant == input_.run.constants.end() || constant->second == 1) return std::nullopt;
  return Reach{make::number(0), make::number(constant->second), make::number(-1), make::number(0)};
}

std::optional<Reach> CheckedPointers::moved(std::optional<Reach> from, const Expr& by, int sign,
                                            const Type& element) const {
  if (!from) return from;
  const BinaryOp ahead = sign > 0 ? BinaryOp::subtract : BinaryOp::add;
  const BinaryOp back = sign > 0 ? BinaryOp::add : BinaryOp::subtract;
  const Expr wide = make::value_of(by) ? by : make::cast(integer(), by);
  const Expr amount = make::times(wide, n_scalars(element));
  const bool is_watched = !make::value_of(from->bits);
  Expr bits = is_watched ? make::sum(back, from->bits, amount) : from->bits;
  if (from->may_be_null) {  // and stays so
    Expr is_null = make::binary(BinaryOp::equal, from->bits, make::number(0));
    bits = make::ternary(std::move(is_null), from->bits, std::move(bits));
  }
  return Reach{make::sum(ahead, from->low, amount), make::sum(ahead, from->high, amount), from->who,
               std::move(bits), from->may_be_null};
}

/// ... by the value of @p count, which is evaluated once more; if that may not be, nothing is
/// known.
std::optional<Reach> CheckedPointers::moved_by(std::optional<Reach> from, const Expr& count,
                                               int sign, const Type& element) const {
  if (!is_plain_value(count)) return std::nullopt;
  return moved(std::move(from), value_(count), sign, element);
}

std::optional<Reach> CheckedPointers::of_address(const Expr& place) const {
  if (std::holds_alternative<Index>(place.node)) {
    return moved_by(reach(place.operands[0]), place.operands[1], 1, place.type);
  }
  if (const auto* unary = std::get_if<Unary>(&place.node)) {
    return unary->op == UnaryOp::dereference ? reach(place.operands[0]) : std::nullopt;
  }
  if (place.type.is_array()) return reach(place);
  return Reach{make::number(0), make::number(1), make::number(-1), make::number(0)};
}

std::optional<Reach> CheckedPointers::of_unary(UnaryOp op, const Expr& expr) const {
  const Expr& operand = expr.operands[0];
  switch (op) {
    case UnaryOp::dereference:
      return expr.type.is_array() ? reach(operand) : std::nullopt;
    case UnaryOp::address:
      return of_address(operand);
    case UnaryOp::pre_increment:
      return moved(reach(operand), make::number(1), 1, element_of(operand.type));
    case UnaryOp::pre_decrement:
      return moved(reach(operand), make::number(1), -1, element_of(operand.type));
    case UnaryOp::post_increment:  // of which a plain kernel uses no value
    case UnaryOp::post_decrement:
    case UnaryOp::plus:
    case UnaryOp::minus:
    case UnaryOp::bit_not:
    case UnaryOp::logical_not:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Reach> CheckedPointers::of_ternary(const Expr& expr) const {
  const std::optional<Reach> yes = reach(expr.operands[1]);
  const std::optional<Reach> no = reach(expr.operands[2]);
  if (!yes || !no || !has_no_effect(expr.operands[0])) return std::nullopt;
  const Expr condition = value_(expr.operands[0]);
  const auto either = [&condition](const Expr& a, const Expr& b) {
    return a == b ? a : make::ternary(condition, a, b);
  };
  const bool is_one_unwatched = !make::value_of(yes->bits) != !make::value_of(no->bits);
  return Reach{either(yes->low, no->low), either(yes->high, no->high), either(yes->who, no->who),
               either(yes->bits, no->bits),
               is_one_unwatched || yes->may_be_null || no->may_be_null};
}

std::optional<Reach> CheckedPointers::reach(const Expr& pointer) const {
  const auto none = [](const auto&) -> std::optional<Reach> { return std::nullopt; };
  return std::visit(
      overload{none, [&](const Name& node) { return of_name(pointer, node.name); },
               [&](const Literal& node) -> std::optional<Reach> {
                 if (node.spelling != "0") return std::nullopt;
                 return Reach{make::number(0), make::number(0), make::number(-1), make::number(0)};
               },
               [&](const Unary& node) { return of_unary(node.op, pointer); },
               [&](const Index&) -> std::optional<Reach> {
                 return pointer.type.is_array() ? of_address(pointer) : std::nullopt;
               },
               [&](const Binary& node) -> std::optional<Reach> {
                 const Expr& left = pointer.operands[0];
                 const Expr& right = pointer.operands[1];
                 const Type element = element_of(pointer.type);
                 if (node.op == BinaryOp::add && left.type.derivation.empty()) {
                   return moved_by(reach(right), left, 1, element);
                 }
                 if (node.op != BinaryOp::add && node.op != BinaryOp::subtract) return std::nullopt;
                 return moved_by(reach(left), right, node.op == BinaryOp::add ? 1 : -1, element);
               },
               [&](const Assign& node) -> std::optional<Reach> {
                 return moved_by(reach(pointer.operands[0]), pointer.operands[1],
                                 *node.op == BinaryOp::add ? 1 : -1, element_of(pointer.type));
               },
               [&](const Cast& node) -> std::optional<Reach> {
                 const bool is_same = node.target.base == pointer.operands[0].type.base;
                 return is_same && is_followed(node.target) ? reach(pointer.operands[0])
                                                            : std::nullopt;
               },
               [&](const Ternary&) { return of_ternary(pointer); }},
      pointer.node);
}

std::optional<Expr> CheckedPointers::follow(const std::string& name, const Expr& pointer) const {
  if (!companions_.contains(name)) return std::nullopt;
  const Reach to = reach(pointer).value_or(unknown_reach());
  Expr all = make::comma(make::assign(make::name(low_of(name)), to.low),
                         make::assign(make::name(high_of(name)), to.high));
  all = make::comma(std::move(all), make::assign(make::name(who_of(name)), to.who));
  if (!has_bits_) return all;
  return make::comma(std::move(all), make::assign(make::name(bits_of(name)), to.bits));
}

std::vector<Parameter> CheckedPointers::companions(const FunctionDef& function, bool has_bits) {
  std::vector<Parameter> found;
  for (const Parameter& parameter : function.parameters) {
    if (!is_followed(parameter.type)) continue;
    for (const std::string& name :
         {low_of(parameter.name), high_of(parameter.name), who_of(parameter.name)}) {
      found.push_back({.name = name, .type = integer(), .line = 0});
    }
    if (has_bits) {
      found.push_back({.name = bits_of(parameter.name), .type = bits_type(), .line = 0});
    }
  }
  return found;
}

std::vector<Expr> CheckedPointers::arguments(const FunctionDef& callee, const Expr& call) const {
  std::vector<Expr> found;
  for (std::size_t i = 0; i < callee.parameters.size() && i < call.operands.size(); ++i) {
    if (!is_followed(callee.parameters[i].type)) continue;
    const Reach to = reach(call.operands[i]).value_or(unknown_reach());
    found.insert(found.end(), {to.low, to.high, to.who});
    if (has_bits_) found.push_back(to.bits);
  }
  return found;
}

Body CheckedPointers::declarations() const {
  Body body;
  for (const auto& [name, type] : companions_) {
    if (parameters_.contains(name)) continue;
    const auto start = start_.find(name);
    Reach to{make::number(0), make::number(0), make::number(-1), make::number(0)};
    const bool is_parameter = start != start_.end();
    if (is_parameter) to = reach_of(start->second, name);
    body.push_back(make::declare(low_of(name), integer(), to.low));
    body.push_back(make::declare(high_of(name), integer(), to.high));
    body.push_back(make::declare(who_of(name), integer(), to.who));
    // a parameter's own bits come with it
    const bool has_own = is_parameter && start->second.is_watched;
    if (has_bits_ && !has_own) body.push_back(make::declare(bits_of(name), bits_type(), to.bits));
  }
  return body;
}

}  // namespace op2::kernel
