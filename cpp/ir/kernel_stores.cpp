// SPDX-License-Identifier: BSD-3-Clause
#include "ir/kernel_stores.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/overload.hpp"
#include "ir/integers.hpp"
#include "ir/kernel_walk.hpp"
#include "ir/unique_names.hpp"

namespace op2::ir {
namespace {

constexpr int max_steps = 200'000;  // some 6 ms; kernels beyond it get the cautious answer

struct Unknown {
  bool operator==(const Unknown&) const = default;
};
// A scalar behind a parameter of the entry function, counted in scalars.
struct Pointed {
  int parameter = 0;
  std::int64_t offset = 0;
  bool operator==(const Pointed&) const = default;
};
using Value = std::variant<Unknown, std::int64_t, Pointed>;
using Written = std::vector<std::set<std::int64_t>>;  // by parameter

// What is known at one point of the program, on all paths that lead there.
struct State {
  std::map<std::string, Value, std::less<>> variables;
  Written written;
};
using Reached = std::optional<State>;  // nothing: no path leads there

Written intersection(const Written& left, const Written& right) {
  Written result(left.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::ranges::set_intersection(left[i], right[i], std::inserter(result[i], result[i].end()));
  }
  return result;
}

Reached joined(Reached left, Reached right) {
  if (!left) return right;
  if (!right) return left;
  left->written = intersection(left->written, right->written);
  std::erase_if(left->variables, [&right](const auto& item) {
    const auto other = right->variables.find(item.first);
    return other == right->variables.end() || other->second != item.second;
  });
  return left;
}

struct TooLong {};

// Where the paths that left a loop or switch early meet again.
struct Exits {
  Reached broken;
  Reached continued;
};

class Machine {
 public:
  explicit Machine(const KernelBody& body) : constants_(constant_integers(body)) {
    for (const FunctionDef& function : body.functions) {
      functions_.emplace(function.name, with_unique_names(function));
    }
    for (const auto& [name, function] : functions_) {
      for_each_expr_in(function.body, [this](const Expr& expr) {
        const auto* unary = std::get_if<Unary>(&expr.node);
        if (unary == nullptr || unary->op != UnaryOp::address) return;
        if (const auto* of = std::get_if<Name>(&expr.operands[0].node)) addressed_.insert(of->name);
      });
    }
  }

  [[nodiscard]] Written run(const FunctionDef& entry) {
    State state;
    std::vector<Value> arguments;
    for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
      const bool points = !entry.parameters[i].type.derivation.empty();
      arguments.emplace_back(points ? Value(Pointed{.parameter = static_cast<int>(i), .offset = 0})
                                    : Value(Unknown{}));
    }
    state.written.resize(entry.parameters.size());
    now_ = std::move(state);
    call(entry.name, arguments);
    return now_ ? now_->written : Written(entry.parameters.size());
  }

 private:
  void count() {
    if (++n_steps_ > max_steps) throw TooLong{};
  }

  void call(const std::string& name, const std::vector<Value>& arguments) {
    const FunctionDef& function = functions_.at(name);
    auto outer_variables = std::exchange(now_->variables, {});
    for (std::size_t i = 0; i < function.parameters.size() && i < arguments.size(); ++i) {
      const Parameter& parameter = function.parameters[i];
      set(parameter.name, held(arguments[i], decayed(parameter.type)));
    }
    auto outer_loops = std::exchange(loops_, {});
    Reached outer_returned = std::exchange(returned_, std::nullopt);
    statements(function.body);
    now_ = joined(std::move(now_), std::move(returned_));
    returned_ = std::move(outer_returned);
    loops_ = std::move(outer_loops);
    if (now_) now_->variables = std::move(outer_variables);
  }

  void statements(const Body& body) {
    for (const Stmt& stmt : body) {
      if (!now_) return;
      count();
      statement(stmt);
    }
  }

  void statement(const Stmt& stmt) {
    std::visit(overload{[this](const Declare& node) {
                          for (const Variable& variable : node.variables) declare(variable);
                        },
                        [this](const Evaluate& node) { evaluate(node.value); },
                        [this](const Block& node) { statements(node.body); },
                        [this](const If& node) { branch(node); },
                        [this](const For& node) {
                          statements(node.init);
                          loop(node.condition, node.step, node.body, true);
                        },
                        [this](const While& node) {
                          loop(node.condition, std::nullopt, node.body, !node.is_do);
                        },
                        [this](const Switch& node) { choose(node); },
                        [this](const Return& node) {
                          if (node.value) evaluate(*node.value);
                          returned_ =
                              joined(std::move(returned_), std::exchange(now_, std::nullopt));
                        },
                        [this](const Break&) { leave(&Exits::broken); },
                        [this](const Continue&) { leave(&Exits::continued); }},
               stmt.node);
  }

  void leave(Reached Exits::*exit) {
    Reached& target = loops_.back().*exit;
    target = joined(std::move(target), std::exchange(now_, std::nullopt));
  }

  void declare(const Variable& variable) {
    const Value value = variable.value ? evaluate(*variable.value) : Value(Unknown{});
    set(variable.name, held(value, variable.type));
  }

  void set(const std::string& name, const Value& value) {
    // What a pointer may change behind our back is not followed.
    if (now_) now_->variables[name] = addressed_.contains(name) ? Value(Unknown{}) : value;
  }

  // 1 or 0 for a condition that can be told.
  std::optional<bool> truth(const Expr& condition) {
    const Value value = evaluate(condition);
    if (const auto* number = std::get_if<std::int64_t>(&value)) return *number != 0;
    return std::nullopt;
  }

  void branch(const If& node) {
    const std::optional<bool> known = truth(node.condition);
    if (known) {
      statements(*known ? node.then_body : node.else_body);
      return;
    }
    const Reached before = now_;
    statements(node.then_body);
    Reached after_then = std::exchange(now_, before);
    statements(node.else_body);
    now_ = joined(std::move(now_), std::move(after_then));
  }

  void loop(const std::optional<Expr>& condition, const std::optional<Expr>& step, const Body& body,
            bool tests_first) {
    loops_.emplace_back();
    while (now_) {
      count();
      if (tests_first && condition) {
        const std::optional<bool> goes_on = truth(*condition);
        if (!goes_on) {
          forget_loop(body, step, *condition);
          break;
        }
        if (!*goes_on) break;
      }
      tests_first = true;
      statements(body);
      now_ = joined(std::move(now_), std::exchange(loops_.back().continued, std::nullopt));
      if (now_ && step) evaluate(*step);
    }
    now_ = joined(std::move(now_), std::move(loops_.back().broken));
    loops_.pop_back();
  }

  // The loop runs on for a number of times that nobody knows: nothing it writes is sure, and what
  // it assigns is unknown. A return inside leaves with what is sure now.
  void forget_loop(const Body& body, const std::optional<Expr>& step, const Expr& condition) {
    forget_assigned(condition);
    if (step) forget_assigned(*step);
    for_each_expr_in(body, [this](const Expr& expr) { forget_target(expr); });
    // Harmless without a return: what follows has at least what is sure now.
    returned_ = joined(std::move(returned_), now_);
  }

  void forget_assigned(const Expr& expr) {
    for_each_expr(expr, [this](const Expr& part) { forget_target(part); });
  }

  void forget_target(const Expr& expr) {
    if (!std::holds_alternative<Assign>(expr.node) && !is_step(expr)) return;
    if (const auto* name = std::get_if<Name>(&expr.operands[0].node)) set(name->name, Unknown{});
  }

  static bool is_step(const Expr& expr) {
    const auto* unary = std::get_if<Unary>(&expr.node);
    return unary != nullptr && unary->op >= UnaryOp::pre_increment;
  }

  void choose(const Switch& node) {
    evaluate(node.value);
    const Reached before = std::exchange(now_, std::nullopt);
    loops_.emplace_back();
    bool has_default = false;
    // Any case may be entered, and each runs on into the next.
    for (const Case& entry : node.cases) {
      now_ = joined(std::move(now_), before);
      statements(entry.body);
      has_default = has_default || !entry.label;
    }
    if (!has_default) now_ = joined(std::move(now_), before);
    now_ = joined(std::move(now_), std::move(loops_.back().broken));
    Reached continued = std::move(loops_.back().continued);
    loops_.pop_back();
    if (continued) {
      Reached& outer = loops_.back().continued;
      outer = joined(std::move(outer), std::move(continued));
    }
  }

  Value evaluate(const Expr& expr) {
    count();
    return std::visit(
        overload{[](const Literal& node) -> Value { return number(integer_of(node.spelling)); },
                 [this](const Name& node) -> Value {
                   if (!now_) return Unknown{};
                   const auto found = now_->variables.find(node.name);
                   if (found != now_->variables.end()) return found->second;
                   const auto constant = constants_.find(node.name);
                   return constant == constants_.end() ? Value(Unknown{}) : constant->second;
                 },
                 [this, &expr](const Unary& node) { return unary(node.op, expr); },
                 [this, &expr](const Binary& node) { return binary(node.op, expr); },
                 [this, &expr](const Assign& node) { return assign(node, expr); },
                 [this, &expr](const Ternary&) { return ternary(expr); },
                 [this, &expr](const Index&) { return decayed_place(expr); },
                 [this, &expr](const Call& node) { return call_of(node, expr); },
                 [this, &expr](const Cast& node) { return cast(node, expr); },
                 [](const SizeOf&) -> Value { return Unknown{}; },
                 [this, &expr](const InitList&) -> Value {
                   for (const Expr& operand : expr.operands) evaluate(operand);
                   return Unknown{};
                 }},
        expr.node);
  }

  static Value number(std::optional<std::int64_t> value) {
    return value ? Value(*value) : Value(Unknown{});
  }

  // What a variable of this type holds after `value` went into it; integers that C would wrap or
  // convert are not followed.
  static Value held(const Value& value, const Type& type) {
    if (std::holds_alternative<Pointed>(value)) return type.is_pointer() ? value : Unknown{};
    const auto* known = std::get_if<std::int64_t>(&value);
    if (known == nullptr || !type.is_scalar() || !is_integer(type.base)) return Unknown{};
    const bool is_signed = type.base == Base::int32 || type.base == Base::int64;
    const std::int64_t limit = (std::int64_t{1} << (is_narrow(type.base) ? 7 : 31)) - 1;
    return *known > limit || *known < (is_signed ? -limit : 0) ? Value(Unknown{}) : value;
  }

  static bool is_narrow(Base base) {
    return base == Base::int8 || base == Base::uint8 || base == Base::int16 ||
           base == Base::uint16 || base == Base::boolean;
  }

  // An array is the place of its first element; the value of an element is not followed.
  Value decayed_place(const Expr& expr) {
    const Value where = place(expr);
    return expr.type.is_array() ? where : Value(Unknown{});
  }

  // Where an lvalue lies; Unknown for locals.
  Value place(const Expr& expr) {
    if (std::holds_alternative<Index>(expr.node)) {
      const Value base = evaluate(expr.operands[0]);
      const Value index = evaluate(expr.operands[1]);
      return moved(base, index, expr.type, 1);
    }
    const auto* unary = std::get_if<Unary>(&expr.node);
    if (unary != nullptr && unary->op == UnaryOp::dereference) return evaluate(expr.operands[0]);
    return Unknown{};
  }

  static Value moved(const Value& base, const Value& index, const Type& element, int sign) {
    const auto* pointer = std::get_if<Pointed>(&base);
    const auto* count = std::get_if<std::int64_t>(&index);
    if (pointer == nullptr || count == nullptr || element.is_pointer()) return Unknown{};
    return Pointed{.parameter = pointer->parameter,
                   .offset = pointer->offset + sign * *count * n_scalars(element)};
  }

  Value unary(UnaryOp op, const Expr& expr) {
    const Expr& operand = expr.operands[0];
    if (op == UnaryOp::address) {
      return place(operand);
    }
    if (op == UnaryOp::dereference) return decayed_place(expr);
    if (op >= UnaryOp::pre_increment) return step(op, expr);
    const Value value = evaluate(operand);
    const auto* known = std::get_if<std::int64_t>(&value);
    return known == nullptr ? Value(Unknown{}) : held(number(apply(op, *known)), expr.type);
  }

  Value step(UnaryOp op, const Expr& expr) {
    const bool is_up = op == UnaryOp::pre_increment || op == UnaryOp::post_increment;
    const bool is_post = op == UnaryOp::post_increment || op == UnaryOp::post_decrement;
    const Expr& target = expr.operands[0];
    if (!std::holds_alternative<Name>(target.node)) {
      store(target, Unknown{});
      return Unknown{};
    }
    const Value before = evaluate(target);
    const Value after = sum(is_up ? BinaryOp::add : BinaryOp::subtract, before,
                            Value(std::int64_t{1}), element_of(target.type));
    store(target, after);
    return is_post ? before : after;
  }

  Value sum(BinaryOp op, const Value& left, const Value& right, const Type& element) {
    const auto* a = std::get_if<std::int64_t>(&left);
    const auto* b = std::get_if<std::int64_t>(&right);
    if (a != nullptr && b != nullptr) return number(apply(op, *a, *b));
    if (op == BinaryOp::add && std::holds_alternative<Pointed>(right)) {
      return moved(right, left, element, 1);
    }
    if (op == BinaryOp::add || op == BinaryOp::subtract) {
      return moved(left, right, element, op == BinaryOp::add ? 1 : -1);
    }
    return Unknown{};
  }

  Value binary(BinaryOp op, const Expr& expr) {
    const Value left = evaluate(expr.operands[0]);
    if (op == BinaryOp::comma) return evaluate(expr.operands[1]);
    if (op == BinaryOp::logical_and || op == BinaryOp::logical_or) {
      const auto* known = std::get_if<std::int64_t>(&left);
      const bool decides = known != nullptr && (*known != 0) == (op == BinaryOp::logical_or);
      if (decides) return std::int64_t{op == BinaryOp::logical_or};
      const Value right = perhaps(expr.operands[1], known != nullptr);
      return known == nullptr ? Value(Unknown{}) : sum(op, left, right, {});
    }
    const Value right = evaluate(expr.operands[1]);
    if (std::holds_alternative<Pointed>(left) || std::holds_alternative<Pointed>(right)) {
      return sum(op, left, right, element_of(expr.type));
    }
    // Compared or combined with an unsigned integer, a negative one is not itself.
    for (const Expr& operand : expr.operands) {
      if (held(left, operand.type) != left || held(right, operand.type) != right) return Unknown{};
    }
    return held(sum(op, left, right, {}), expr.type);
  }

  // Evaluate what may not be evaluated: its stores are not sure.
  Value perhaps(const Expr& expr, bool is_sure) {
    if (is_sure) return evaluate(expr);
    const Reached before = now_;
    const Value value = evaluate(expr);
    now_ = joined(std::move(now_), before);
    return value;
  }

  Value ternary(const Expr& expr) {
    if (const std::optional<bool> known = truth(expr.operands[0])) {
      return evaluate(expr.operands[*known ? 1 : 2]);
    }
    const Value yes = perhaps(expr.operands[1], false);
    const Value no = perhaps(expr.operands[2], false);
    return yes == no ? yes : Value(Unknown{});
  }

  Value assign(const Assign& node, const Expr& expr) {
    Value value = evaluate(expr.operands[1]);
    if (node.op) {
      const bool is_name = std::holds_alternative<Name>(expr.operands[0].node);
      const Value before = is_name ? evaluate(expr.operands[0]) : Value(Unknown{});
      value = sum(*node.op, before, value, element_of(expr.type));
    }
    store(expr.operands[0], value);
    return value;
  }

  void store(const Expr& target, const Value& value) {
    if (const auto* name = std::get_if<Name>(&target.node)) {
      set(name->name, held(value, target.type));
      return;
    }
    const Value where = place(target);
    const auto* known = std::get_if<Pointed>(&where);
    if (known == nullptr || !target.type.is_scalar() || !now_) return;
    now_->written[static_cast<std::size_t>(known->parameter)].insert(known->offset);
  }

  Value cast(const Cast& node, const Expr& expr) {
    const Value value = evaluate(expr.operands[0]);
    if (std::holds_alternative<Pointed>(value)) {
      const bool same_scalar = node.target.base == expr.operands[0].type.base;
      return same_scalar && !node.target.derivation.empty() ? value : Value(Unknown{});
    }
    return held(value, node.target);
  }

  Value call_of(const Call& node, const Expr& expr) {
    std::vector<Value> arguments;
    for (const Expr& operand : expr.operands) arguments.push_back(evaluate(operand));
    if (now_ && functions_.contains(node.function)) call(node.function, arguments);
    return Unknown{};
  }

  Integers constants_;
  std::map<std::string, FunctionDef, std::less<>> functions_;
  std::set<std::string> addressed_;  // locals of any function whose address is taken
  Reached now_;
  Reached returned_;
  std::vector<Exits> loops_;
  int n_steps_ = 0;
};

std::int64_t prefix_of(const std::set<std::int64_t>& offsets) {
  std::int64_t n = 0;
  for (auto i = offsets.lower_bound(0); i != offsets.end() && *i == n; ++i) ++n;
  return n;
}

}  // namespace

std::vector<std::int64_t> surely_stored(const KernelBody& body) {
  const FunctionDef& entry = body.entry();
  std::vector<std::int64_t> prefixes(entry.parameters.size(), 0);
  try {
    const Written written = Machine(body).run(entry);
    std::ranges::transform(written, prefixes.begin(), prefix_of);
  } catch (const TooLong&) {
    // Too long to follow: nothing is sure.
  }
  return prefixes;
}

}  // namespace op2::ir
