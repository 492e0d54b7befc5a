// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/listed.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "kernel/effects.hpp"
#include "kernel/fresh_names.hpp"
#include "kernel/integers.hpp"
#include "kernel/make.hpp"
#include "kernel/types.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

/// Names that only loops over [0, dim) declare: whatever has such a name is below `dim`.
NameSet small_names(const FunctionDef& entry, const Integers& known, int dim) {
  std::map<std::string, int> declared;
  for (const Parameter& parameter : entry.parameters) ++declared[parameter.name];
  std::map<std::string, int> small;
  for_each_body(entry.body, [&](const Body& body) {
    for (const Stmt& stmt : body) {
      if (const auto* declare = std::get_if<Declare>(&stmt.node)) {
        for (const Variable& variable : declare->variables) ++declared[variable.name];
      }
      const auto* loop = std::get_if<For>(&stmt.node);
      if (loop == nullptr || loop->init.empty()) continue;
      if (!std::holds_alternative<Declare>(loop->init.front().node)) continue;
      const auto counts = counted(*loop, known);
      if (counts && counts->first == 0 && counts->stride == 1 && counts->n <= dim) {
        ++small[counts->name];
      }
    }
  });
  NameSet names;
  for (const auto& [name, n] : small) {
    if (declared[name] == n) names.insert(name);
  }
  return names;
}

/// `dim * row + component`.
struct Entry {
  Expr row;
  Expr component;
};

/// Takes a subscript apart without dividing.
class Subscript {
 public:
  Subscript(const Integers& known, const NameSet& small, int dim)
      : known_(known), small_(small), dim_(dim) {}

  [[nodiscard]] std::optional<Entry> parts(const Expr& at) {
    if (!add(at) || constant_ < 0) return std::nullopt;
    Expr row = rows_ ? std::move(*rows_) : make::number(constant_ / dim_);
    if (rows_) row = make::sum(BinaryOp::add, std::move(row), make::number(constant_ / dim_));
    if (!below_) return Entry{std::move(row), make::number(constant_ % dim_)};
    if (constant_ % dim_ != 0) return std::nullopt;
    return Entry{std::move(row), std::move(*below_)};
  }

 private:
  bool add(const Expr& term) {
    if (const auto value = integer_value(term, known_)) {
      constant_ += *value;
      return true;
    }
    if (const auto* name = std::get_if<Name>(&term.node)) {
      if (!small_.contains(name->name) || below_) return false;
      below_ = term;
      return true;
    }
    const auto* binary = std::get_if<Binary>(&term.node);
    if (binary == nullptr) return false;
    if (binary->op == BinaryOp::add) return add(term.operands[0]) && add(term.operands[1]);
    if (binary->op != BinaryOp::multiply) return false;
    return add_product(term.operands[0], term.operands[1]) ||
           add_product(term.operands[1], term.operands[0]);
  }

  bool add_product(const Expr& factor, const Expr& rows) {
    const auto value = integer_value(factor, known_);
    if (!value || *value <= 0 || *value % dim_ != 0) return false;
    Expr product = make::times(rows, *value / dim_);
    rows_ = rows_ ? make::sum(BinaryOp::add, std::move(*rows_), std::move(product))
                  : std::move(product);
    return true;
  }

  const Integers& known_;
  const NameSet& small_;
  int dim_;
  std::int64_t constant_ = 0;
  std::optional<Expr> rows_;
  std::optional<Expr> below_;
};

/// Puts the list between the array and its subscripts.
class Lister {
 public:
  Lister(const std::string& array, const std::string& list, const ListedRows& rows,
         const Integers& known, const NameSet& small)
      : array_(array), list_(list), rows_(rows), known_(known), small_(small) {}

  void enter() { scopes_.enter(); }
  void leave() { scopes_.leave(); }
  void declare(const Variable& variable) { scopes_.declare(variable.name, true); }

  void expression(Expr& expr) {
    const auto* unary = std::get_if<Unary>(&expr.node);
    const bool is_addressed = unary != nullptr && unary->op == UnaryOp::address;
    const bool is_changed = is_addressed || is_store(expr);
    if (is_array(expr) || (is_changed && is_entry(expr.operands[0]))) {
      is_possible_ = false;
      return;
    }
    if (is_entry(expr)) return read(expr);
    for (Expr& operand : expr.operands) expression(operand);
  }

  [[nodiscard]] bool is_possible() const { return is_possible_; }

 private:
  void read(Expr& expr) {
    Expr at = std::holds_alternative<Index>(expr.node) ? expr.operands[1] : make::number(0);
    expression(at);
    std::optional<Entry> entry = parts(at);
    if (!entry) {
      is_possible_ = false;
      return;
    }
    Expr number = make::cast(scalar(Base::int64), make::index(make::name(list_), entry->row));
    Expr place = make::sum(
        BinaryOp::add, make::times(std::move(number), rows_.stride),
        make::sum(BinaryOp::add, std::move(entry->component), make::number(rows_.component)));
    expr = make::index(make::name(array_), std::move(place));
  }

  [[nodiscard]] std::optional<Entry> parts(const Expr& at) const {
    if (rows_.dim == 1) return Entry{at, make::number(0)};
    if (auto found = Subscript(known_, small_, rows_.dim).parts(at)) return found;
    if (!has_no_effect(at)) return std::nullopt;
    return Entry{make::over(at, rows_.dim),
                 make::binary(BinaryOp::modulo, at, make::number(rows_.dim))};
  }

  /// An inner variable may hide the array.
  [[nodiscard]] bool is_array(const Expr& expr) const {
    const auto* name = std::get_if<Name>(&expr.node);
    return name != nullptr && name->name == array_ && scopes_.find(array_) == nullptr;
  }

  [[nodiscard]] bool is_entry(const Expr& expr) const {
    const auto* unary = std::get_if<Unary>(&expr.node);
    const bool is_first = unary != nullptr && unary->op == UnaryOp::dereference;
    return (is_first || std::holds_alternative<Index>(expr.node)) && is_array(expr.operands[0]);
  }

  const std::string& array_;
  const std::string& list_;
  const ListedRows& rows_;
  const Integers& known_;
  const NameSet& small_;
  ScopeStack<bool> scopes_;
  bool is_possible_ = true;
};

}  // namespace

std::optional<KernelBody> with_list(const KernelBody& body, std::size_t parameter,
                                    const ListedRows& rows) {
  KernelBody made = body;
  FunctionDef& entry = made.functions.back();
  if (parameter >= entry.parameters.size() || rows.dim < 1) return {};
  Parameter& array = entry.parameters[parameter];
  if (array.type.depth() != 1 || array.type.base == Base::structure) return {};
  const Integers known = constant_integers(body);
  const NameSet small = small_names(entry, known, rows.dim);
  const std::string list = FreshNames(body).take(array.name + "_rows");
  Lister lister(array.name, list, rows, known, small);
  lister.enter();
  walk_scoped(entry.body, lister);
  lister.leave();
  if (!lister.is_possible()) return {};
  array.type = decayed(array.type);
  array.type.is_const = array.type.is_outside = true;
  Type numbers = scalar(rows.index);
  numbers.is_const = numbers.is_outside = true;
  entry.parameters.push_back({.name = list, .type = pointer_to(numbers)});
  return infer_types(std::move(made));
}

}  // namespace op2::kernel
