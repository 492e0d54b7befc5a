// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/run.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "base/overload.hpp"
#include "kernel/constants.hpp"
#include "kernel/effects.hpp"
#include "kernel/held_constants.hpp"
#include "kernel/integers.hpp"
#include "kernel/known_functions.hpp"
#include "kernel/run_state.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

using run_state::constant_in;
using run_state::FactsOf;
using run_state::followed;
using run_state::joined;
using run_state::Pointed;
using run_state::Reached;
using run_state::State;
using run_state::Stored;
using run_state::Unknown;
using run_state::Value;

constexpr int max_steps = 200'000;  // some 6 ms; kernels beyond it get the cautious answer

struct TooLong {};

// Where the paths that left a loop or switch early meet again.
struct Exits {
  Reached broken;
  Reached continued;
};

class Machine {
 public:
  Machine(const KernelBody& named, const RunInput& input, RunListener* listener)
      : body_(named), input_(input), listener_(listener), constants_(constant_integers(named)) {
    for (const FunctionDef& function : named.functions) {
      for_each_expr_in(function.body, [this](const Expr& expr) {
        const auto* unary = std::get_if<Unary>(&expr.node);
        if (unary == nullptr || unary->op != UnaryOp::address) return;
        if (const auto* of = std::get_if<Name>(&expr.operands[0].node)) addressed_.insert(of->name);
      });
    }
    for (std::string& name : free_names(named)) free_.insert(std::move(name));
  }

  [[nodiscard]] RunResult run() {
    const FunctionDef& entry = body_.entry();
    State state;
    std::vector<Value> arguments;
    for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
      const bool points = !entry.parameters[i].type.derivation.empty();
      arguments.emplace_back(points ? Value(Pointed{.object = static_cast<int>(i)})
                                    : Value(Unknown{}));
      objects_.push_back({.name = entry.parameters[i].name,
                          .parameter = static_cast<int>(i),
                          .extent = i < input_.extents.size() ? input_.extents[i] : -1,
                          .is_uniform = i < input_.uniform.size() && input_.uniform[i],
                          .base = entry.parameters[i].type.base});
    }
    state.written.resize(entry.parameters.size());
    now_ = std::move(state);
    if (listener_ != nullptr) add_tables();
    call(entry.name, arguments);
    RunResult result;
    result.is_complete = true;
    if (now_) {
      result.stored = std::move(now_->written);
      result.constant = std::move(now_->constant);
      result.copied = std::move(now_->copied);
    }
    result.stored.resize(entry.parameters.size());
    result.constant.resize(entry.parameters.size());
    result.copied.resize(entry.parameters.size());
    return result;
  }

 private:
  void count() {
    if (++n_steps_ > max_steps) throw TooLong{};
  }

  // The state where two paths part. Where nobody listens, what it costs to copy and to join counts:
  // kernels of check mode have thousands of variables and conditions.
  [[nodiscard]] Reached parted() {
    if (now_ && listener_ == nullptr) n_steps_ += static_cast<int>(now_->variables.size());
    return now_;
  }

  void call(const std::string& name, const std::vector<Value>& arguments) {
    const FunctionDef& function = *body_.function(name);
    const FunctionDef* outer_function = std::exchange(function_, &function);
    auto outer_variables = std::exchange(now_->variables, {});
    auto outer_unset = std::exchange(now_->unset, {});
    for (std::size_t i = 0; i < function.parameters.size() && i < arguments.size(); ++i) {
      const Parameter& parameter = function.parameters[i];
      set(parameter.name, kept(arguments[i], decayed(parameter.type)));
    }
    auto outer_loops = std::exchange(loops_, {});
    Reached outer_returned = std::exchange(returned_, std::nullopt);
    statements(function.body);
    now_ = joined(std::move(now_), std::move(returned_));
    returned_ = std::move(outer_returned);
    loops_ = std::move(outer_loops);
    function_ = outer_function;
    if (!now_) return;
    now_->variables = std::move(outer_variables);
    now_->unset = std::move(outer_unset);
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
    if (variable.type.is_array() && listener_ != nullptr) {
      return declare_array(variable);
    }
    set(variable.name, kept(value, variable.type));
    if (!variable.value && now_) now_->unset.insert(variable.name);
  }

  // One object for each array of each function: a second call begins with it anew.
  void declare_array(const Variable& variable) {
    const std::string of = function_ == nullptr ? std::string() : function_->name;
    const auto [known, is_new] =
        arrays_.emplace(std::pair(of, variable.name), static_cast<int>(objects_.size()));
    const int object = known->second;
    const std::int64_t extent =
        variable.type.derivation[0].extent < 0 ? -1 : n_scalars(variable.type);
    if (is_new) {
      objects_.push_back({.name = variable.name, .extent = extent, .base = variable.type.base});
    }
    if (!now_) return;
    std::set<std::int64_t>& written = written_of(object);
    written.clear();
    if (variable.value) {
      for (std::int64_t i = 0; i < extent; ++i) written.insert(i);
    }
    now_->variables[variable.name] = Pointed{.object = object};
  }

  // Tables at file scope and Consts, under their names.
  void add_tables() {
    for (const Variable& table : body_.tables) {
      if (!table.type.is_array()) continue;
      declare_array(table);
      globals_.emplace(table.name, now_->variables[table.name]);
    }
    for (const auto& [name, extent] : input_.constants) {
      if (!free_.contains(name) || extent == 1) continue;
      globals_.emplace(name, Pointed{.object = static_cast<int>(objects_.size())});
      objects_.push_back({.name = name, .extent = extent, .is_uniform = true});
      std::set<std::int64_t>& written = written_of(static_cast<int>(objects_.size()) - 1);
      for (std::int64_t i = 0; i < extent; ++i) written.insert(i);
    }
  }

  template <class Scalars>
  static Scalars& grown(std::vector<Scalars>& list, int object) {
    const auto i = static_cast<std::size_t>(object);
    if (list.size() <= i) list.resize(i + 1);
    return list[i];
  }

  std::set<std::int64_t>& written_of(int object) { return grown(now_->written, object); }

  void set(const std::string& name, const Value& value) {
    if (!now_) return;
    forget(name, value);
    now_->unset.erase(name);
  }

  // Whether it has a value is as before.
  void forget(const std::string& name, const Value& value) {
    // What a pointer may change behind our back is not followed.
    if (now_) now_->variables[name] = addressed_.contains(name) ? Value(Unknown{}) : value;
  }

  struct Truth {
    std::optional<bool> known{};
    bool is_uniform = false;  // ... where it is not known
  };

  // 1 or 0 for a condition that can be told.
  Truth truth(const Expr& condition) {
    const Value value = evaluate(condition);
    if (const auto* number = std::get_if<std::int64_t>(&value)) return {.known = *number != 0};
    return {.is_uniform = is_uniform(value)};
  }

  static bool is_uniform(const Value& value) {
    if (const auto* unknown = std::get_if<Unknown>(&value)) return unknown->is_uniform;
    return !std::holds_alternative<Pointed>(value);
  }

  // What follows runs under a condition that nobody can tell.
  class Guard {
   public:
    Guard(int& n_guards, bool is_uniform) : n_guards_(n_guards), is_uniform_(is_uniform) {
      n_guards_ += is_uniform_ ? 1 : 0;
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() { n_guards_ -= is_uniform_ ? 1 : 0; }

   private:
    int& n_guards_;
    bool is_uniform_;
  };

  void branch(const If& node) {
    const Truth condition = truth(node.condition);
    if (condition.known) {
      statements(*condition.known ? node.then_body : node.else_body);
      return;
    }
    const Guard guard(n_guards_, condition.is_uniform);
    const Reached before = parted();
    statements(node.then_body);
    Reached after_then = std::exchange(now_, before);
    statements(node.else_body);
    now_ = joined(std::move(now_), std::move(after_then));
  }

  void loop(const std::optional<Expr>& condition, const std::optional<Expr>& step, const Body& body,
            bool tests_first) {
    loops_.emplace_back();
    const bool is_bounded = condition && !std::holds_alternative<Literal>(condition->node);
    while (now_) {
      count();
      if (tests_first && condition) {
        const Truth goes_on = truth(*condition);
        if (!goes_on.known) {
          forget_loop(body, step, *condition);
          look_at_loop(body, step, *condition, goes_on.is_uniform);
          break;
        }
        if (!*goes_on.known) break;
      }
      tests_first = true;
      statements(body);
      now_ = joined(std::move(now_), std::exchange(loops_.back().continued, std::nullopt));
      if (now_ && step) evaluate(*step);
      // Only data end such a loop, so the number of rounds is unknown.
      const bool may_have_ended = loops_.back().broken || returned_;
      if (now_ && !is_bounded && may_have_ended) {
        const Expr always{Literal{"1"}, {}, scalar(Base::int32)};
        forget_loop(body, step, always);
        look_at_loop(body, step, always, false);
        break;
      }
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
    forget_memory();
    // Harmless without a return: what follows has at least what is sure now.
    returned_ = joined(std::move(returned_), now_);
  }

  // Somebody may have stored anything anywhere.
  void forget_memory() {
    now_->constant.clear();
    now_->copied.clear();
  }

  // Any of its rounds, for the listener: from what is known in all of them.
  void look_at_loop(const Body& body, const std::optional<Expr>& step, const Expr& condition,
                    bool is_uniform) {
    if (listener_ == nullptr) return;
    const Reached before = now_;
    const Reached returned = returned_;
    const std::vector<Exits> loops = loops_;
    const Guard guard(n_guards_, is_uniform);
    evaluate(condition);
    statements(body);
    now_ = joined(std::move(now_), loops_.back().continued);
    if (now_ && step) evaluate(*step);
    now_ = before;
    returned_ = returned;
    loops_ = loops;
  }

  void forget_assigned(const Expr& expr) {
    for_each_expr(expr, [this](const Expr& part) { forget_target(part); });
  }

  void forget_target(const Expr& expr) {
    if (!is_store(expr)) return;
    if (const auto* name = std::get_if<Name>(&expr.operands[0].node)) forget(name->name, Unknown{});
  }

  void choose(const Switch& node) {
    const Guard guard(n_guards_, is_uniform(evaluate(node.value)));
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
    return std::visit(overload{[](const Literal& node) -> Value {
                                 if (const auto whole = integer_of(node.spelling)) return *whole;
                                 const auto real = real_of(node.spelling);
                                 return real ? Value(Real{*real}) : Unknown{.is_uniform = true};
                               },
                               [this, &expr](const Name& node) { return named(node.name, expr); },
                               [this, &expr](const Unary& node) { return unary(node.op, expr); },
                               [this, &expr](const Binary& node) { return binary(node.op, expr); },
                               [this, &expr](const Assign& node) { return assign(node, expr); },
                               [this, &expr](const Ternary&) { return ternary(expr); },
                               [this, &expr](const Index&) { return decayed_place(expr); },
                               [this](const MemberOf&) -> Value {
                                 load_anything();
                                 return Unknown{};
                               },
                               [this, &expr](const Call& node) { return call_of(node, expr); },
                               [this, &expr](const Cast& node) { return cast(node, expr); },
                               [this, &expr](const SizeOf& node) { return size(node, expr); },
                               [this, &expr](const InitList&) -> Value {
                                 for (const Expr& operand : expr.operands) evaluate(operand);
                                 return Unknown{};
                               }},
                      expr.node);
  }

  Value named(const std::string& name, const Expr& expr) {
    if (!now_) return Unknown{};
    if (listener_ != nullptr && expr.type.is_scalar()) {
      listener_->use(expr, !now_->unset.contains(name));
    }
    const auto found = now_->variables.find(name);
    if (found != now_->variables.end()) return found->second;
    if (const auto global = globals_.find(name); global != globals_.end()) return global->second;
    const auto constant = constants_.find(name);
    if (constant != constants_.end()) return constant->second;
    return Unknown{.is_uniform = free_.contains(name)};
  }

  Value size(const SizeOf& node, const Expr& expr) const {
    const Type& type = node.target ? *node.target : expr.operands[0].type;
    const auto dtype = dtype_of(type.base);
    if (listener_ == nullptr || !dtype || type.is_pointer()) return Unknown{};
    return n_scalars(type) * static_cast<std::int64_t>(size_of(*dtype));
  }

  static Value number(std::optional<std::int64_t> value) {
    return value ? Value(*value) : Value(Unknown{});
  }

  // What a variable of this type holds after `value` went into it; what C would wrap, round or cut
  // off is not followed.
  static Value held(const Value& value, const Type& type) {
    if (std::holds_alternative<Pointed>(value)) return type.is_pointer() ? value : Unknown{};
    if (std::holds_alternative<Unknown>(value)) return value;
    if (!type.is_scalar()) return Unknown{.is_uniform = true};
    const auto* whole = std::get_if<std::int64_t>(&value);
    if (whole != nullptr && keeps(type.base, *whole)) return value;
    return followed(held_as(*constant_in(value), type.base));
  }

  // Places are counted in scalars of what they are in: as another type they are not followed.
  Value kept(const Value& value, const Type& type) const {
    const auto* where = std::get_if<Pointed>(&value);
    return where != nullptr && !counts_in(*where, type) ? Unknown{} : held(value, type);
  }

  [[nodiscard]] bool counts_in(const Pointed& where, const Type& type) const {
    const std::optional<Base> base = object(where).base;
    return !base || !type.is_known() || *base == type.base;
  }

  // The value of an expression of this type, converted to it.
  static Value as_typed(const Value& value, const Type& type) {
    return type.is_scalar() ? held(value, type) : value;
  }

  // An array is the place of its first element; the value of an element is not followed.
  Value decayed_place(const Expr& expr) {
    const Value where = place(expr);
    if (expr.type.is_array()) return where;
    touch(expr, where);
    load(expr.type.is_scalar() ? where : somewhere(where));
    const auto* known = std::get_if<Pointed>(&where);
    return Unknown{.is_uniform = known != nullptr && object(*known).is_uniform};
  }

  [[nodiscard]] const RunObject& object(const Pointed& place) const {
    return objects_[static_cast<std::size_t>(place.object)];
  }

  // Where an lvalue lies; Unknown for local scalars.
  Value place(const Expr& expr, bool is_accessed = true) {
    const auto* unary = std::get_if<Unary>(&expr.node);
    const bool is_index = std::holds_alternative<Index>(expr.node);
    if (!is_index && (unary == nullptr || unary->op != UnaryOp::dereference)) return Unknown{};
    Value base = evaluate(expr.operands[0]);
    if (const auto* in = std::get_if<Pointed>(&base); in != nullptr && !counts_in(*in, expr.type)) {
      base = Unknown{};
    }
    const Value index = is_index ? evaluate(expr.operands[1]) : Value(std::int64_t{0});
    if (is_accessed) tell_subscript(expr, base, index);
    return is_index ? moved(base, index, expr.type, 1) : base;
  }

  void tell_subscript(const Expr& site, const Value& base, const Value& index) {
    if (listener_ == nullptr) return;
    const auto* in = std::get_if<Pointed>(&base);
    const auto* known = std::get_if<std::int64_t>(&index);
    RunSubscript met{.site = site, .array = {}, .index = {}, .is_guarded = n_guards_ > 0};
    if (in != nullptr) {
      met.array = object(*in).name;
      met.parameter = object(*in).parameter;
    }
    const Type& array = site.operands[0].type;
    if (array.is_array()) {
      met.extent = array.derivation[0].extent;
      if (known != nullptr) met.index = *known;
    } else if (in != nullptr && object(*in).extent >= 0 && !site.type.is_pointer()) {
      const std::int64_t width = std::max<std::int64_t>(n_scalars(site.type), 1);
      met.extent = object(*in).extent / width;
      const bool is_whole = in->offset % width == 0;
      if (known != nullptr && in->is_exact && is_whole) met.index = in->offset / width + *known;
    }
    listener_->subscript(met);
  }

  void touch(const Expr& site, const Value& where) {
    if (listener_ == nullptr || !now_) return;
    const auto* in = std::get_if<Pointed>(&where);
    if (in == nullptr) return listener_->touch(site, nullptr, false);
    listener_->touch(site, &object(*in), is_written(*in));
  }

  void load(const Value& where) {
    if (listener_ == nullptr || !now_) return;
    const auto* in = std::get_if<Pointed>(&where);
    if (in == nullptr) return listener_->load(nullptr, std::nullopt, false);
    listener_->load(&object(*in), in->is_exact ? std::optional(in->offset) : std::nullopt,
                    is_written(*in));
  }

  void load_anything() { load(Unknown{}); }

  // Any scalar of the array that a place is in.
  static Value somewhere(const Value& where) {
    const auto* in = std::get_if<Pointed>(&where);
    return in == nullptr ? where : Pointed{.object = in->object, .is_exact = false};
  }

  bool is_written(const Pointed& place) {
    const std::set<std::int64_t>& written = written_of(place.object);
    const std::int64_t extent = object(place).extent;
    const bool is_all = extent >= 0 && static_cast<std::int64_t>(written.size()) >= extent;
    return is_all || (place.is_exact && written.contains(place.offset));
  }

  Value moved(const Value& base, const Value& index, const Type& element, int sign) const {
    const auto* pointer = std::get_if<Pointed>(&base);
    const auto* count = std::get_if<std::int64_t>(&index);
    if (pointer == nullptr || element.is_pointer() || !counts_in(*pointer, element)) {
      return Unknown{};
    }
    if (count == nullptr || !pointer->is_exact) {
      return Pointed{.object = pointer->object, .is_exact = false};
    }
    return Pointed{.object = pointer->object,
                   .offset = pointer->offset + sign * *count * n_scalars(element)};
  }

  Value unary(UnaryOp op, const Expr& expr) {
    const Expr& operand = expr.operands[0];
    if (op == UnaryOp::address) {
      if (const auto* name = std::get_if<Name>(&operand.node); name != nullptr && now_) {
        now_->unset.erase(name->name);
        const auto found = now_->variables.find(name->name);
        const bool is_array = operand.type.is_array() && found != now_->variables.end();
        return is_array ? found->second : Value(Unknown{});
      }
      return place(operand, false);
    }
    if (op == UnaryOp::dereference) return decayed_place(expr);
    if (is_step(op)) return step(op, expr);
    const Value value = evaluate(operand);
    const Value result = held(applied(op, value, operand.type), expr.type);
    if (op == UnaryOp::minus) computed(expr, result);
    return result;
  }

  static Value applied(UnaryOp op, const Value& value, const Type& type) {
    if (const auto* known = std::get_if<std::int64_t>(&value)) return number(apply(op, *known));
    const auto* real = std::get_if<Real>(&value);
    // the imaginary part gets a sign, too
    const bool is_signed = op == UnaryOp::minus && !is_complex(type.base);
    if (real != nullptr && op == UnaryOp::plus) return value;
    if (real != nullptr && is_signed) return Real{-real->value};
    return Unknown{.is_uniform = is_uniform(value)};
  }

  Value step(UnaryOp op, const Expr& expr) {
    const Expr& target = expr.operands[0];
    if (!std::holds_alternative<Name>(target.node)) {
      store(target, Unknown{}, {.is_update = true});
      return Unknown{};
    }
    const Value before = evaluate(target);
    const Value after = sum(is_up(op) ? BinaryOp::add : BinaryOp::subtract, before,
                            Value(std::int64_t{1}), element_of(target.type));
    if (target.type.is_scalar()) computed(expr, held(after, target.type));
    store(target, after);
    return is_post_step(op) ? before : as_typed(after, target.type);
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

  static Value of_both(const Value& left, const Value& right) {
    return Unknown{.is_uniform = is_uniform(left) && is_uniform(right)};
  }

  Value binary(BinaryOp op, const Expr& expr) {
    const Value left = evaluate(expr.operands[0]);
    if (op == BinaryOp::comma) return evaluate(expr.operands[1]);
    if (op == BinaryOp::logical_and || op == BinaryOp::logical_or) {
      const auto* known = std::get_if<std::int64_t>(&left);
      const bool decides = known != nullptr && (*known != 0) == (op == BinaryOp::logical_or);
      if (decides) return std::int64_t{op == BinaryOp::logical_or};
      const Value right = perhaps(expr.operands[1], known != nullptr, is_uniform(left));
      return known == nullptr || std::get_if<std::int64_t>(&right) == nullptr
                 ? of_both(left, right)
                 : sum(op, left, right, {});
    }
    const Value right = evaluate(expr.operands[1]);
    if (std::holds_alternative<Pointed>(left) || std::holds_alternative<Pointed>(right)) {
      return sum(op, left, right, element_of(expr.type));
    }
    if (is_converted_in(expr, left, right)) return computed(expr, of_both(left, right));
    const Value value = held(sum(op, left, right, {}), expr.type);
    const bool is_known = std::holds_alternative<std::int64_t>(value);
    return computed(expr, is_known ? value : of_both(left, right));
  }

  Value computed(const Expr& expr, const Value& value) {
    if (listener_ != nullptr) {
      listener_->compute(expr, std::holds_alternative<std::int64_t>(value));
    }
    return value;
  }

  // Evaluate what may not be evaluated: its stores are not sure.
  Value perhaps(const Expr& expr, bool is_sure, bool is_uniform = false) {
    if (is_sure) return evaluate(expr);
    const Guard guard(n_guards_, is_uniform);
    const Reached before = parted();
    const Value value = evaluate(expr);
    now_ = joined(std::move(now_), before);
    return value;
  }

  Value ternary(const Expr& expr) {
    const Truth condition = truth(expr.operands[0]);
    const auto converted = [&expr](const Value& value) { return as_typed(value, expr.type); };
    if (condition.known) return converted(evaluate(expr.operands[*condition.known ? 1 : 2]));
    const Value yes = converted(perhaps(expr.operands[1], false, condition.is_uniform));
    const Value no = converted(perhaps(expr.operands[2], false, condition.is_uniform));
    if (yes == no) return yes;
    const auto* one = std::get_if<Pointed>(&yes);
    const auto* other = std::get_if<Pointed>(&no);
    if (one != nullptr && other != nullptr && one->object == other->object) {
      return Pointed{.object = one->object, .is_exact = false};
    }
    return Unknown{.is_uniform = condition.is_uniform && is_uniform(yes) && is_uniform(no)};
  }

  Value assign(const Assign& node, const Expr& expr) {
    Value value = evaluate(expr.operands[1]);
    if (node.op) {
      const bool is_name = std::holds_alternative<Name>(expr.operands[0].node);
      const Value before = is_name ? evaluate(expr.operands[0]) : Value(Unknown{});
      const bool is_converted =
          !std::holds_alternative<Pointed>(before) && is_converted_in(expr, before, value);
      value = sum(*node.op, before, value, element_of(expr.type));
      if (is_converted) value = Unknown{};
      if (expr.operands[0].type.is_scalar()) computed(expr, held(value, expr.type));
    }
    Stored stored{.is_update = node.op.has_value()};
    if (!node.op) {
      stored = {constant_in(held(value, expr.type)), loaded_from(expr.operands[1], expr.type)};
    }
    store(expr.operands[0], value, stored);
    return as_typed(value, expr.type);
  }

  // Combined with an operand of another type, an integer may not be itself.
  static bool is_converted_in(const Expr& expr, const Value& left, const Value& right) {
    return std::ranges::any_of(expr.operands, [&](const Expr& operand) {
      return is_changed_by(operand.type, left) || is_changed_by(operand.type, right);
    });
  }

  static bool is_changed_by(const Type& type, const Value& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
      return !type.is_scalar() || !keeps(type.base, *whole);
    }
    return std::holds_alternative<Real>(value) && held(value, type) != value;
  }

  // The scalar of a parameter that a value is, without a conversion.
  std::optional<RunSource> loaded_from(const Expr& value, const Type& wanted) {
    const bool is_plain = std::holds_alternative<Index>(value.node) && value.type.is_scalar() &&
                          value.type.base == wanted.base && has_no_effect(value);
    if (!is_plain || listener_ != nullptr || !now_) return std::nullopt;
    const Value where = place(value);
    const auto* known = std::get_if<Pointed>(&where);
    const auto n_parameters = static_cast<int>(body_.entry().parameters.size());
    if (known == nullptr || !known->is_exact || known->object >= n_parameters) return std::nullopt;
    return RunSource{known->object, known->offset};
  }

  void store(const Expr& target, const Value& value, const Stored& stored = {}) {
    if (const auto* name = std::get_if<Name>(&target.node)) {
      set(name->name, kept(value, target.type));
      return;
    }
    const Value where = place(target);
    touch(target, where);
    if (stored.is_update) load(where);
    const auto* known = std::get_if<Pointed>(&where);
    const bool is_scalar = target.type.is_scalar();
    if (!now_) return;
    if (known == nullptr || !known->is_exact || !is_scalar) return forget_memory();
    written_of(known->object).insert(known->offset);
    note(grown(now_->constant, known->object), known->offset, stored.constant);
    note(grown(now_->copied, known->object), known->offset, stored.source);
  }

  template <class Fact>
  static void note(std::map<std::int64_t, Fact>& facts, std::int64_t offset,
                   const std::optional<Fact>& fact) {
    if (fact) {
      facts.insert_or_assign(offset, *fact);
    } else {
      facts.erase(offset);
    }
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
    if (now_ && body_.function(node.function) == nullptr && takes_pointers(expr)) forget_memory();
    if (now_ && body_.function(node.function) != nullptr) {
      call(node.function, arguments);
    } else if (now_ && listener_ != nullptr) {
      call_library(node.function, expr, arguments);
    }
    return Unknown{};
  }

  static bool takes_pointers(const Expr& call) {
    return std::ranges::any_of(call.operands, [](const Expr& operand) {
      return operand.type.is_pointer() || operand.type.is_array();
    });
  }

  // What a function of the library writes through its pointers; of unknown ones all is forgiven.
  void call_library(const std::string& name, const Expr& expr,
                    const std::vector<Value>& arguments) {
    const KnownFunction* known = known_function(name);
    const bool is_memory = name.find("mem") != std::string::npos && arguments.size() == 3;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const auto* to = std::get_if<Pointed>(&arguments[i]);
      const Type& type = expr.operands[i].type;
      if (to == nullptr && (!type.derivation.empty() || !type.is_known())) load_anything();
      if (to == nullptr) continue;
      load(somewhere(arguments[i]));
      if (known != nullptr && (i >= known->parameters.size() || !known->writes(i))) continue;
      const auto dtype = dtype_of(expr.operands[i].type.base);
      std::int64_t n = object(*to).extent - to->offset;
      if (known != nullptr && !is_memory) n = 1;
      if (known != nullptr && is_memory && dtype) {
        const auto* bytes = std::get_if<std::int64_t>(&arguments[2]);
        n = bytes == nullptr ? 0 : *bytes / static_cast<std::int64_t>(size_of(*dtype));
      }
      if (known != nullptr && !to->is_exact) continue;
      for (std::int64_t c = 0; c < std::min(n, object(*to).extent); ++c) {
        written_of(to->object).insert(to->offset + c);
      }
    }
  }

  const KernelBody& body_;
  const RunInput& input_;
  RunListener* listener_;
  Integers constants_;
  std::set<std::string> free_;       // names that nobody declares
  std::set<std::string> addressed_;  // locals of any function whose address is taken
  std::vector<RunObject> objects_;   // those of the entry function's parameters first
  std::map<std::pair<std::string, std::string>, int> arrays_;  // by function and name
  std::map<std::string, Value, std::less<>> globals_;          // tables and Consts
  const FunctionDef* function_ = nullptr;
  int n_guards_ = 0;
  Reached now_;
  Reached returned_;
  std::vector<Exits> loops_;
  int n_steps_ = 0;
};

}  // namespace

RunResult run_kernel(const KernelBody& named, const RunInput& input, RunListener* listener) {
  RunResult result;
  result.stored.resize(named.entry().parameters.size());
  result.constant.resize(named.entry().parameters.size());
  result.copied.resize(named.entry().parameters.size());
  try {
    return Machine(named, input, listener).run();
  } catch (const TooLong&) {
    // Too long to follow: nothing is sure.
  }
  return result;
}

}  // namespace op2::kernel
