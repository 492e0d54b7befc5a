// SPDX-License-Identifier: BSD-3-Clause
#include "ir/strided.hpp"

#include <string>
#include <utility>
#include <vector>

#include "ir/kernel_make.hpp"
#include "ir/kernel_types.hpp"
#include "ir/kernel_walk.hpp"

namespace op2::ir {
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

}  // namespace

std::optional<KernelBody> with_stride(const KernelBody& body, std::size_t parameter, int stride) {
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
  return infer_types(std::move(made));
}

}  // namespace op2::ir
