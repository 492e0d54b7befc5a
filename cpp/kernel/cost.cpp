// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/cost.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/overload.hpp"
#include "kernel/held_constants.hpp"
#include "kernel/integers.hpp"
#include "kernel/known_functions.hpp"
#include "kernel/lane_functions.hpp"
#include "kernel/rows.hpp"
#include "kernel/unique_names.hpp"

namespace op2::kernel {
namespace {

using Costs = std::map<std::string, Work, std::less<>>;

// Steps of loops that are gone through one by one because the bounds of others depend on them; from
// then on a loop counts by its middle. Some milliseconds.
constexpr std::int64_t most_steps = 4096;

std::int64_t cost_of(BinaryOp op, const Type& type) {
  if (!type.is_scalar() || !is_floating(type.base)) return 0;
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::subtract:
      return is_complex(type.base) ? 2 : 1;
    case BinaryOp::multiply:
      return is_complex(type.base) ? 6 : 1;
    case BinaryOp::divide:
      return is_complex(type.base) ? 11 : 1;
    case BinaryOp::modulo:
    case BinaryOp::shift_left:
    case BinaryOp::shift_right:
    case BinaryOp::less:
    case BinaryOp::greater:
    case BinaryOp::less_equal:
    case BinaryOp::greater_equal:
    case BinaryOp::equal:
    case BinaryOp::not_equal:
    case BinaryOp::bit_and:
    case BinaryOp::bit_xor:
    case BinaryOp::bit_or:
    case BinaryOp::logical_and:
    case BinaryOp::logical_or:
    case BinaryOp::comma:
      return 0;
  }
  return 0;
}

/// Bytes of a real number, or of the two parts of a complex one each; 0 for other types.
int part_bytes(const Type& type) {
  const auto dtype = is_floating(type.base) ? dtype_of(part_base(type.base)) : std::nullopt;
  return dtype ? static_cast<int>(size_of(*dtype)) : 0;
}

bool is_slow(const std::string& function) {
  return function.starts_with("sqrt") || function == "csqrt";
}

Work dearer(const Work& left, const Work& right) {
  Work work = left.n_operations < right.n_operations ? right : left;
  work.is_open = left.is_open || right.is_open;
  work.float_bytes = std::max(left.float_bytes, right.float_bytes);
  return work;
}

class Counter {
 public:
  Counter(const Costs& callees, Integers known, const RowLimits& rows)
      : callees_(callees), known_(std::move(known)), rows_(rows) {}

  Work statements(const Body& body) {
    Work sum;
    for (const Stmt& stmt : body) sum += statement(stmt);
    return sum;
  }

  [[nodiscard]] bool has_unknown() const { return has_unknown_; }

 private:
  Work statement(const Stmt& stmt) {
    return std::visit(
        overload{[this](const Declare& node) { return declare(node); },
                 [this](const Evaluate& node) { return cost(node.value); },
                 [this](const Block& node) { return statements(node.body); },
                 [this](const If& node) {
                   Work sum = cost(node.condition);
                   const Work yes = statements(node.then_body);
                   return sum += dearer(yes, statements(node.else_body));
                 },
                 [this](const For& node) { return loop(node); },
                 [this](const While& node) {
                   Work sum = cost(node.condition);
                   sum.is_open = true;
                   return sum += statements(node.body);
                 },
                 [this](const Switch& node) {
                   Work dearest;
                   for (const Case& entry : node.cases) {
                     dearest = dearer(dearest, statements(entry.body));
                   }
                   return dearest += cost(node.value);
                 },
                 [this](const Return& node) { return node.value ? cost(*node.value) : Work{}; },
                 [](const Break&) { return Work{}; }, [](const Continue&) { return Work{}; }},
        stmt.node);
  }

  Work declare(const Declare& node) {
    Work sum;
    for (const Variable& variable : node.variables) {
      if (!variable.value) continue;
      if (!node.is_static) sum += cost(*variable.value);
      if (!variable.type.is_const || !variable.type.is_scalar()) continue;
      known_.erase(variable.name);  // it was another one in the step before
      const auto value = integer_value(*variable.value, known_);
      if (value && keeps(variable.type.base, *value)) known_[variable.name] = *value;
    }
    return sum;
  }

  Work loop(const For& node) {
    Work sum = statements(node.init);
    const auto range = counted(node, known_);
    if (!range) {
      has_unknown_ = true;
      return sum += once(node);
    }
    const bool had_unknown = std::exchange(has_unknown_, false);
    Work all = once(node).times(range->n);
    if (has_unknown_) all = step_by_step(node, *range);
    has_unknown_ |= had_unknown;
    if (runs_along_rows(node, known_, rows_)) all.n_in_rows = all.n_operations;
    return sum += all;
  }

  Work once(const For& node) {
    Work sum = statements(node.body);
    if (node.condition) sum += cost(*node.condition);
    if (node.step) sum += cost(*node.step);
    return sum;
  }

  /// The same with the loop's variable known, because bounds of loops inside depend on it.
  Work step_by_step(const For& node, const Counted& range) {
    Work sum;
    n_steps_ += range.n;
    has_unknown_ = false;
    if (n_steps_ > most_steps) {
      known_[range.name] = range.first + range.stride * (range.n - 1) / 2;
      sum = once(node).times(range.n);
    } else {
      for (std::int64_t i = 0; i < range.n; ++i) {
        known_[range.name] = range.first + i * range.stride;
        sum += once(node);
      }
    }
    known_.erase(range.name);
    return sum;
  }

  [[nodiscard]] Work cost(const Expr& expr) const {
    Work sum = own_cost(expr);
    const bool is_evaluated = !std::holds_alternative<SizeOf>(expr.node);
    for (const Expr& operand : expr.operands) sum += is_evaluated ? cost(operand) : Work{};
    return sum;
  }

  [[nodiscard]] Work own_cost(const Expr& expr) const {
    const auto by = [&expr](BinaryOp op) {
      const std::int64_t n = cost_of(op, expr.type);
      return Work{.n_operations = n,
                  .n_slow = n > 0 && op == BinaryOp::divide ? 1 : 0,
                  .float_bytes = n > 0 ? part_bytes(expr.type) : 0};
    };
    if (const auto* node = std::get_if<Binary>(&expr.node)) return by(node->op);
    if (const auto* node = std::get_if<Assign>(&expr.node))
      return node->op ? by(*node->op) : Work{};
    const auto* call = std::get_if<Call>(&expr.node);
    if (call == nullptr) return {};
    const auto callee = callees_.find(call->function);
    if (callee != callees_.end()) return callee->second;
    const KnownFunction* known = known_function(call->function);
    const std::int64_t n = known == nullptr ? 0 : known->n_operations;
    return {.n_operations = n,
            .n_slow = is_slow(call->function) ? n : 0,
            .n_calls = known != nullptr && known->vectors_since > 0 ? 1 : 0,
            .float_bytes = n > 0 ? part_bytes(expr.type) : 0};
  }

  const Costs& callees_;
  Integers known_;
  RowLimits rows_;
  std::int64_t n_steps_ = 0;
  bool has_unknown_ = false;  // a loop was met whose bounds could not be told
};

}  // namespace

Work& Work::operator+=(const Work& more) {
  n_operations += more.n_operations;
  n_slow += more.n_slow;
  n_calls += more.n_calls;
  n_in_rows += more.n_in_rows;
  is_open |= more.is_open;
  float_bytes = std::max(float_bytes, more.float_bytes);
  return *this;
}

Work Work::times(std::int64_t n) const {
  return {.n_operations = n * n_operations,
          .n_slow = n * n_slow,
          .n_calls = n * n_calls,
          .n_in_rows = n * n_in_rows,
          .is_open = is_open,
          .float_bytes = float_bytes};
}

Work work_of(const KernelBody& body, const RowLimits& rows) {
  Costs costs;
  const Integers known = constant_integers(body);
  for (const FunctionDef& function : body.functions) {
    const FunctionDef named = with_unique_names(function);
    Work& work = costs[function.name];
    Counter counter(costs, known, rows);
    work = counter.statements(named.body);
    work.is_open |= counter.has_unknown();
    if (!function.vector_text.empty()) work.n_in_rows = work.n_operations;
  }
  return costs.at(body.entry().name);
}

std::int64_t n_operations(const KernelBody& body) {
  return work_of(body, {.steps = 1}).n_operations;
}

}  // namespace op2::kernel
