// SPDX-License-Identifier: BSD-3-Clause
#include "cg/switches.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "base/overload.hpp"
#include "ir/kernel_types.hpp"
#include "ir/kernel_walk.hpp"

namespace op2::cg {
namespace {

using ir::Base;
using ir::BinaryOp;
using ir::Expr;
using ir::Stmt;

constexpr const char* value_name = "op2_value";
constexpr const char* inside_name = "op2_inside";

Expr named(const char* name, Base base) {
  return {ir::Name{name}, {}, ir::scalar(base), 0};
}
Expr whole(const char* spelling) {
  return {ir::Literal{spelling}, {}, ir::scalar(Base::int32), 0};
}
Expr both(BinaryOp op, Expr left, Expr right) {
  return {ir::Binary{op}, {std::move(left), std::move(right)}, ir::scalar(Base::int32), 0};
}
Stmt set_inside(const char* to) {
  Expr assign{
      ir::Assign{}, {named(inside_name, Base::int32), whole(to)}, ir::scalar(Base::int32), 0};
  return {.node = ir::Evaluate{std::move(assign)}, .line = 0};
}
Stmt declared(const char* name, Base base, Expr value) {
  ir::Variable variable{
      .name = name, .type = ir::scalar(base), .value = std::move(value), .line = 0};
  return {.node = ir::Declare{.is_static = false, .variables = {std::move(variable)}}, .line = 0};
}

/// Takes the `break` off that ends @p body.
bool take_break(ir::Body& body) {
  if (body.empty()) return false;
  if (std::holds_alternative<ir::Break>(body.back().node)) {
    body.pop_back();
    return true;
  }
  auto* block = std::get_if<ir::Block>(&body.back().node);
  return block != nullptr && take_break(block->body);
}

/// A `break` of the switch itself.
bool breaks(const ir::Body& body) {
  return std::ranges::any_of(body, [](const Stmt& stmt) {
    if (std::holds_alternative<ir::Break>(stmt.node)) return true;
    if (const auto* block = std::get_if<ir::Block>(&stmt.node)) return breaks(block->body);
    const auto* branch = std::get_if<ir::If>(&stmt.node);
    return branch != nullptr && (breaks(branch->then_body) || breaks(branch->else_body));
  });
}

bool declares(const ir::Body& body) {
  return std::ranges::any_of(
      body, [](const Stmt& stmt) { return std::holds_alternative<ir::Declare>(stmt.node); });
}

/// The value is that of this case, or of none if it is the default.
Expr enters(const ir::Switch& node, const ir::Case& entry, Base base) {
  const auto is = [&](BinaryOp op, const Expr& label) {
    return both(op, named(value_name, base), label);
  };
  if (entry.label) return is(BinaryOp::equal, *entry.label);
  Expr none = whole("1");
  for (const ir::Case& other : node.cases) {
    if (!other.label) continue;
    none = both(BinaryOp::logical_and, std::move(none), is(BinaryOp::not_equal, *other.label));
  }
  return none;
}

void spell_out(Stmt& stmt) {
  auto& node = std::get<ir::Switch>(stmt.node);
  ir::Switch made = node;
  std::vector<bool> ends;
  for (ir::Case& entry : made.cases) {
    ends.push_back(take_break(entry.body));
    if (breaks(entry.body) || declares(entry.body)) return;
  }
  const Base base = ir::promoted(node.value.type.base);
  if (!ir::is_integer(base)) return;
  ir::Body all{declared(value_name, base, node.value),
               declared(inside_name, Base::int32, whole("0"))};
  for (std::size_t i = 0; i < made.cases.size(); ++i) {
    ir::Body body = std::move(made.cases[i].body);
    body.insert(body.begin(), set_inside("1"));
    if (ends[i]) body.push_back(set_inside("0"));
    Expr enter = both(BinaryOp::logical_or, named(inside_name, Base::int32),
                      enters(node, made.cases[i], base));
    all.push_back({.node = ir::If{std::move(enter), std::move(body), {}}, .line = stmt.line});
  }
  stmt.node = ir::Block{std::move(all)};
}

}  // namespace

void spell_out_switches(ir::KernelBody& body) {
  for (ir::FunctionDef& function : body.functions) {
    ir::for_each_body(function.body, [](ir::Body& statements) {
      for (Stmt& stmt : statements) {
        if (std::holds_alternative<ir::Switch>(stmt.node)) spell_out(stmt);
      }
    });
  }
}

}  // namespace op2::cg
