// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/strided.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernel/integers.hpp"
#include "kernel/make.hpp"
#include "kernel/types.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

class Strider {
 public:
  Strider(const std::string& array, int stride) : array_(array), stride_(stride) {}

  void enter() { scopes_.enter(); }
  void leave() { scopes_.leave(); }
  void declare(const Variable& variable) { scopes_.declare(variable.name, true); }

  void expression(Expr& expr) {
    if (is_array(expr)) {
      is_possible_ = false;
      return;
    }
    const auto* unary = std::get_if<Unary>(&expr.node);
    if (unary != nullptr && unary->op == UnaryOp::address && is_entry(expr.operands[0])) {
      is_possible_ = false;  // whoever has the address may walk on from there
      return;
    }
    if (is_entry(expr)) {
      expression(expr.operands[1]);
      Expr& at = expr.operands[1];
      at = make::binary(BinaryOp::multiply, std::move(at), make::number(stride_));
      return;
    }
    if (unary != nullptr && unary->op == UnaryOp::dereference && is_array(expr.operands[0])) return;
    for (Expr& operand : expr.operands) expression(operand);
  }

  [[nodiscard]] bool is_possible() const { return is_possible_; }

 private:
  /// An inner variable may hide the array.
  [[nodiscard]] bool is_array(const Expr& expr) const {
    const auto* name = std::get_if<Name>(&expr.node);
    return name != nullptr && name->name == array_ && scopes_.find(array_) == nullptr;
  }

  [[nodiscard]] bool is_entry(const Expr& expr) const {
    return std::holds_alternative<Index>(expr.node) && is_array(expr.operands[0]);
  }

  const std::string& array_;
  int stride_;
  ScopeStack<bool> scopes_;
  bool is_possible_ = true;
};

/// Loops around entries of the array have constant subscripts if they are written out, and
/// compilers do that with the innermost one only.
class Unroller {
 public:
  Unroller(const std::string& array, const Integers& known, std::int64_t most_steps)
      : array_(array), known_(known), most_steps_(most_steps) {}

  /// @return Steps of the longest nest of loops, nothing if that is unknown.
  std::optional<std::int64_t> unroll(Body& body) {
    std::optional<std::int64_t> most = 1;
    for (Stmt& stmt : body) {
      const std::optional<std::int64_t> here = unroll(stmt);
      most = most && here ? std::optional(std::max(*most, *here)) : std::nullopt;
    }
    return most;
  }

 private:
  std::optional<std::int64_t> unroll(Stmt& stmt) {
    if (auto* block = std::get_if<Block>(&stmt.node)) return unroll(block->body);
    if (auto* branch = std::get_if<If>(&stmt.node)) {
      const auto yes = unroll(branch->then_body);
      const auto no = unroll(branch->else_body);
      return yes && no ? std::optional(std::max(*yes, *no)) : std::nullopt;
    }
    auto* loop = std::get_if<For>(&stmt.node);
    const bool is_loop = loop != nullptr || std::holds_alternative<While>(stmt.node);
    if (loop == nullptr) return is_loop ? std::nullopt : std::optional<std::int64_t>(1);
    const std::optional<std::int64_t> inner = unroll(loop->body);
    const std::optional<std::int64_t> own = trip_count(*loop, known_);
    if (!inner || !own || *own > most_steps_) return {};
    const std::int64_t steps = *own * *inner;
    loop->is_unrolled = steps <= most_steps_ && has_entry(loop->body);
    return steps;
  }

  [[nodiscard]] bool has_entry(const Body& body) const {
    bool found = false;
    for_each_expr_in(body, [&](const Expr& expr) {
      const auto* name = std::get_if<Name>(&expr.node);
      found |= name != nullptr && name->name == array_;
    });
    return found;
  }

  const std::string& array_;
  const Integers& known_;
  std::int64_t most_steps_;
};

}  // namespace

std::optional<KernelBody> with_stride(const KernelBody& body, std::size_t parameter, int stride,
                                      std::int64_t most_steps) {
  KernelBody made = body;
  FunctionDef& entry = made.functions.back();
  if (parameter >= entry.parameters.size()) return {};
  const Parameter& array = entry.parameters[parameter];
  if (array.type.depth() != 1 || array.type.base == Base::structure) return {};
  Strider strider(array.name, stride);
  strider.enter();
  walk_scoped(entry.body, strider);
  strider.leave();
  if (!strider.is_possible()) return {};
  const Integers known = constant_integers(body);
  Unroller(array.name, known, most_steps).unroll(entry.body);
  return infer_types(std::move(made));
}

}  // namespace op2::kernel
