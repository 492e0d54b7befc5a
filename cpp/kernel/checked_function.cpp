// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/checked_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/dtype.hpp"
#include "base/overload.hpp"
#include "kernel/checked_addresses.hpp"
#include "kernel/effects.hpp"
#include "kernel/make.hpp"
#include "kernel/types.hpp"
#include "kernel/unique_names.hpp"
#include "kernel/updates.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

constexpr std::string_view reports = "op2_check";

std::string flag_of(const std::string& name) {
  return "op2_has_" + name;
}

bool is_signed(Base base) {
  return base == Base::int32 || base == Base::int64;
}

bool is_of_integer(const Type& type) {
  return type.is_scalar() && is_integer(type.base);
}

/// What C computes `target op= operand` in.
Base base_of_update(BinaryOp op, const Expr& target, const Expr& operand) {
  const bool is_shift = op == BinaryOp::shift_left || op == BinaryOp::shift_right;
  return is_shift ? promoted(target.type.base) : common_base(target.type.base, operand.type.base);
}

/// What the functions of the prelude call a use.
std::int64_t kind_of(Use use) {
  return use == Use::load ? 0 : use == Use::store ? 1 : 2;
}

/// The name that an expression gives another value, or lets others do so; nothing: none.
const Name* changed_name(const Expr& expr) {
  const auto* unary = std::get_if<Unary>(&expr.node);
  const bool changes = std::holds_alternative<Assign>(expr.node) ||
                       (unary != nullptr && (is_step(unary->op) || unary->op == UnaryOp::address));
  return changes ? std::get_if<Name>(&expr.operands[0].node) : nullptr;
}

/// Whether a loop counts: its condition is of numbers that its body leaves alone, so that it ends
/// however wrong the values are.
bool counts(const For& node) {
  if (!node.condition || !node.step) return false;
  std::set<std::string> names;
  bool is_plain = changed_name(*node.step) != nullptr;
  for_each_expr(*node.condition, [&](const Expr& expr) {
    if (const auto* name = std::get_if<Name>(&expr.node)) {
      names.insert(name->name);
      return;
    }
    is_plain = is_plain && (std::holds_alternative<Literal>(expr.node) ||
                            std::holds_alternative<Binary>(expr.node));
  });
  for_each_expr_in(node.body, [&](const Expr& expr) {
    const Name* changed = changed_name(expr);
    is_plain = is_plain && (changed == nullptr || !names.contains(changed->name));
  });
  return is_plain;
}

/// Whether running a body may come to its end, where it cannot be seen that it never does.
bool may_end(const Body& body) {
  if (body.empty()) return true;
  const StmtNode& last = body.back().node;
  if (std::holds_alternative<Return>(last)) return false;
  if (const auto* block = std::get_if<Block>(&last)) return may_end(block->body);
  const auto* branch = std::get_if<If>(&last);
  return branch == nullptr || may_end(branch->then_body) || may_end(branch->else_body);
}

/// Whether a kernel uses what a function returns: a call alone is a statement.
bool uses_result_of(const KernelBody& kernel, const std::string& function) {
  const auto is_call = [&function](const Expr& expr) {
    const auto* call = std::get_if<Call>(&expr.node);
    return call != nullptr && call->function == function;
  };
  int n_used = 0;
  for (const FunctionDef& caller : kernel.functions) {
    for_each_expr_in(caller.body, [&](const Expr& expr) { n_used += is_call(expr) ? 1 : 0; });
    for_each_body(caller.body, [&](const Body& body) {
      n_used -= static_cast<int>(std::ranges::count_if(body, [&is_call](const Stmt& stmt) {
        const auto* alone = std::get_if<Evaluate>(&stmt.node);
        return alone != nullptr && is_call(alone->value);
      }));
    });
  }
  return n_used > 0;
}

Check check_of(Use use) {
  return use == Use::load ? Check::load : use == Use::store ? Check::store : Check::update;
}

}  // namespace

const Expr& CheckSites::keep(Expr expr) {
  return kept_.emplace_back(std::move(expr));
}

std::int64_t CheckSites::number(Check check, const Expr& expr, const RunObject& about) {
  const auto [known, is_new] =
      known_.emplace(std::pair(&expr, check), static_cast<std::int64_t>(sites_.size()));
  if (is_new) {
    const bool is_made = about.name.starts_with(check_prefix);  // a local that the user never saw
    sites_.push_back({.check = check,
                      .line = expr.line,
                      .name = is_made ? std::string() : user_name(about.name),
                      .parameter = about.parameter,
                      .extent = about.extent});
  }
  return known->second;
}

CheckedFunction::CheckedFunction(CheckedKernel& kernel, const FunctionDef& function)
    : kernel_(kernel),
      function_(function),
      pointers_(function, kernel.body, kernel.input, kernel.has_bits,
                [this](const Expr& expr) { return value(expr); }) {
  struct Locals {
    std::set<std::string>& arrays;
    void enter() {}
    void leave() {}
    void expression(const Expr& /*expr*/) {}
    void declare(const Variable& variable) {
      if (variable.type.is_array()) arrays.insert(variable.name);
    }
  };
  Locals locals{arrays_};
  walk_scoped(function.body, locals);
  flags_ = watched_scalars();
}

FunctionDef CheckedFunction::run() {
  FunctionDef made = function_;
  made.body = statements(function_.body);
  if (lacks_result()) {
    Expr end = make::name(function_.name);
    end.line = function_.line;
    made.body.push_back(make::evaluate(
        report("op2_has", {make::number(0)}, Check::result, kernel_.sites.keep(std::move(end)))));
  }
  Body head = pointers_.declarations();
  for (const std::string& flag : flags_) {
    head.push_back(make::declare(flag_of(flag), scalar(Base::int32), make::number(0)));
  }
  head.insert(head.end(), declarations_.begin(), declarations_.end());
  made.body.insert(made.body.begin(), head.begin(), head.end());
  const bool is_entry = &function_ == &kernel_.body.entry();
  std::vector<Parameter> extra;
  if (!is_entry) extra = CheckedPointers::companions(function_, kernel_.has_bits);
  for (std::size_t i = 0; is_entry && kernel_.has_bits && i < made.parameters.size(); ++i) {
    if (!kernel_.input.accesses[i]) continue;
    extra.push_back({.name = CheckedPointers::bits_of(made.parameters[i].name),
                     .type = pointer_to(scalar(Base::uint8)),
                     .line = 0});
  }
  const Type reported = scalar(kernel_.suspects ? Base::float64 : Base::int64);
  extra.push_back({.name = std::string(reports), .type = pointer_to(reported), .line = 0});
  made.parameters.insert(made.parameters.end(), extra.begin(), extra.end());
  return made;
}

/// Whether the function may end without the value that its callers use.
bool CheckedFunction::lacks_result() const {
  if (function_.result == scalar(Base::none) || &function_ == &kernel_.body.entry()) return false;
  return may_end(function_.body) && uses_result_of(kernel_.body, function_.name);
}

/// Local scalars that may be used without a value, and that no pointer can give one.
std::set<std::string> CheckedFunction::watched_scalars() const {
  std::set<std::string> bare = scalars_without_value(function_);
  std::set<std::string> unsure;
  std::set<const Expr*> targets;  // `x = ...` uses no x
  for_each_expr_in(function_.body, [&](const Expr& expr) {
    const auto* assign = std::get_if<Assign>(&expr.node);
    if (assign != nullptr && !assign->op) targets.insert(&expr.operands[0]);
    const auto* unary = std::get_if<Unary>(&expr.node);
    if (unary != nullptr && unary->op == UnaryOp::address) {
      if (const auto* name = std::get_if<Name>(&expr.operands[0].node)) bare.erase(name->name);
    }
    const auto* name = std::get_if<Name>(&expr.node);
    if (name == nullptr || targets.contains(&expr)) return;
    if (!kernel_.proofs.has_value(expr)) unsure.insert(name->name);
  });
  std::erase_if(bare, [&unsure](const std::string& name) { return !unsure.contains(name); });
  return bare;
}

// -------------------------------------------------------------------------------------- statements

Body CheckedFunction::statements(const Body& body) {
  Body made;
  for (std::size_t i = 0; i < body.size(); ++i) {
    next_ = i + 1 < body.size() ? &body[i + 1] : nullptr;
    statement(body[i], made);
  }
  return made;
}

void CheckedFunction::statement(const Stmt& stmt, Body& into) {
  const auto add = [&into, &stmt](StmtNode node) {
    into.push_back({.node = std::move(node), .line = stmt.line});
  };
  std::visit(
      overload{
          [&](const Declare& node) { declare(node, stmt.line, into); },
          [&](const Evaluate& node) { add(Evaluate{effect(node.value)}); },
          [&](const Block& node) { add(Block{statements(node.body)}); },
          [&](const If& node) {
            add(If{value(node.condition), statements(node.then_body), statements(node.else_body)});
          },
          [&](const For& node) {
            Body around;
            Body init = head_of(node, around);
            std::optional<Expr> condition;
            if (node.condition) condition = value(*node.condition);
            if (!counts(node)) condition = until_found(condition.value_or(make::number(1)));
            std::optional<Expr> step;
            if (node.step) step = effect(*node.step);
            For made{std::move(init), std::move(condition), std::move(step), statements(node.body)};
            if (around.empty()) return add(std::move(made));
            around.push_back({.node = std::move(made), .line = stmt.line});
            add(Block{std::move(around)});
          },
          [&](const While& node) {
            add(While{until_found(value(node.condition)), statements(node.body), node.is_do});
          },
          [&](const Switch& node) {
            Switch made{value(node.value), {}};
            for (const Case& entry : node.cases) {
              made.cases.push_back({entry.label, statements(entry.body)});
            }
            add(std::move(made));
          },
          [&](const Return& node) {
            if (!node.value) return add(node);
            add(Return{converted(*node.value, value(*node.value), function_.result)});
          },
          [&](const Break& node) { add(node); }, [&](const Continue& node) { add(node); }},
      stmt.node);
}

/// The condition of a loop, which ends once something is found: values stand in for wrong ones.
Expr CheckedFunction::until_found(Expr condition) const {
  if (kernel_.suspects) return condition;  // all values are the user's
  Expr goes_on = make::call("op2_goes_on", {make::name(std::string(reports))});
  return make::binary(BinaryOp::logical_and, std::move(goes_on), std::move(condition));
}

void CheckedFunction::declare(const Declare& node, int line, Body& into) {
  if (node.is_static) {
    into.push_back({.node = node, .line = line});
    return;
  }
  for (const Variable& variable : node.variables) before_declaration(variable, into);
  Declare made = node;
  for (Variable& variable : made.variables) {
    if (!variable.value) continue;
    const bool is_part = variable.name.starts_with(check_prefix);
    const RunObject outer =
        std::exchange(target_, is_part ? goes_to(variable.name) : RunObject{.name = variable.name});
    const Expr& given =
        *node.variables[static_cast<std::size_t>(&variable - made.variables.data())].value;
    variable.value = converted(given, value(given), variable.type);
    target_ = outer;
  }
  into.push_back({.node = std::move(made), .line = line});
  for (const Variable& variable : node.variables) after_declaration(variable, into);
}

void CheckedFunction::before_declaration(const Variable& variable, Body& into) {
  if (!variable.value) return;
  if (auto follow = pointers_.follow(variable.name, *variable.value)) {
    into.push_back(make::evaluate(std::move(*follow)));
  }
}

void CheckedFunction::after_declaration(const Variable& variable, Body& into) {
  if (flags_.contains(variable.name)) {
    into.push_back(
        make::evaluate(make::assign(make::name(flag_of(variable.name)), make::number(0))));
  }
  const bool is_watched =
      kernel_.has_bits && variable.type.is_array() && CheckedPointers::is_followed(variable.type);
  if (!is_watched) return;
  const std::string bits = CheckedPointers::bits_of(variable.name);
  Type type = scalar(Base::uint8);
  type.derivation.push_back({.kind = Derivation::Kind::array, .extent = n_scalars(variable.type)});
  declarations_.push_back(make::declare(bits, type, std::nullopt));
  into.push_back(make::evaluate(
      make::call("op2_clear", {make::name(bits), make::number(n_scalars(variable.type)),
                               make::number(variable.value ? 3 : 2)})));
}

/// The first part of a `for`; what has to be done for it goes before the loop.
Body CheckedFunction::head_of(const For& node, Body& into) {
  if (node.init.empty()) return {};
  Body made;
  statement(node.init.front(), made);
  if (made.size() == 1) return made;
  for (Stmt& stmt : made) into.push_back(std::move(stmt));
  return {};
}

// ------------------------------------------------------------------------------------- expressions

Expr CheckedFunction::operands(const Expr& expr) {
  Expr made = expr;
  for (std::size_t i = 0; i < expr.operands.size(); ++i) made.operands[i] = value(expr.operands[i]);
  return made;
}

Expr CheckedFunction::value(const Expr& expr) {
  return std::visit(
      overload{[&](const Literal&) { return expr; }, [&](const Name&) { return name_used(expr); },
               [&](const Unary& node) { return unary(node.op, expr); },
               [&](const Binary& node) { return binary(node.op, expr); },
               [&](const Assign& node) { return assign(node, expr); },
               [&](const Ternary&) { return operands(expr); },
               [&](const Index&) { return place(expr, Use::load); },
               [&](const MemberOf&) { return operands(expr); },
               [&](const Call& node) { return call(node, expr); },
               [&](const Cast&) { return cast(expr); }, [&](const SizeOf&) { return expr; },
               [&](const InitList&) { return operands(expr); }},
      expr.node);
}

/// Who casts an integer knows what it loses; of a real number C says nothing then.
Expr CheckedFunction::cast(const Expr& expr) {
  Expr made = operands(expr);
  const Type& from = expr.operands[0].type;
  const bool is_real = from.is_scalar() && is_floating(from.base);
  if (is_real && is_of_integer(expr.type)) {
    made.operands[0] = fitted(expr, std::move(made.operands[0]), from.base, expr.type.base);
  }
  return made;
}

/// An expression whose value nobody uses.
Expr CheckedFunction::effect(const Expr& expr) {
  const auto* node = std::get_if<Unary>(&expr.node);
  return node != nullptr && is_step(node->op) ? unary(without_value(node->op), expr) : value(expr);
}

Expr CheckedFunction::name_used(const Expr& expr) {
  return is_watched_use(expr) ? make::comma(has_value(expr), expr) : expr;
}

/// Whether @p expr is a variable that may have no value here.
bool CheckedFunction::is_watched_use(const Expr& expr) const {
  const auto* name = std::get_if<Name>(&expr.node);
  return name != nullptr && flags_.contains(name->name) && !kernel_.proofs.has_value(expr);
}

/// Watch whether a variable has a value.
Expr CheckedFunction::has_value(const Expr& name) {
  const std::string& variable = std::get<Name>(name.node).name;
  return report("op2_has", {make::name(flag_of(variable))}, Check::unset, name);
}

Expr CheckedFunction::unary(UnaryOp op, const Expr& expr) {
  const Expr& operand = expr.operands[0];
  if (op == UnaryOp::dereference) return place(expr, Use::load);
  Expr made = expr;
  if (op == UnaryOp::address) {
    // one past the end may be pointed to
    const bool is_place = std::holds_alternative<Index>(operand.node);
    made.operands[0] = is_place ? operands(operand) : place(operand, std::nullopt);
    return made;
  }
  const bool overflows =
      operand.type.is_scalar() && has_sign(operand.type.base) && !kernel_.proofs.is_defined(expr);
  if (!is_step(op)) {
    if (op != UnaryOp::minus || !overflows || !is_signed(operand.type.base)) return operands(expr);
    return in_range(BinaryOp::subtract, expr, make::number(0), value(operand), operand.type);
  }
  const auto* name = std::get_if<Name>(&operand.node);
  if (overflows) {
    made = step(op, expr);
  } else {
    made.operands[0] = place(operand, Use::increment);
  }
  if (name == nullptr) return made;
  if (is_watched_use(operand)) return make::comma(has_value(operand), made);
  const Expr after = make::of(Unary{without_value(op)}, {operand}, expr.line);
  auto follow = pointers_.follow(name->name, after);
  return follow ? make::comma(std::move(*follow), made) : made;
}

/// `++` or `--` of a signed integer, written as what it does.
Expr CheckedFunction::step(UnaryOp op, const Expr& expr) {
  const Expr& target = expr.operands[0];
  Expr made = expr;
  made.operands[0] = place(target, Use::increment);
  if (!has_no_effect(target)) return made;
  const Type made_in = scalar(promoted(target.type.base));
  const auto* name = std::get_if<Name>(&target.node);
  const RunObject outer =
      std::exchange(target_, name == nullptr ? about(target) : goes_to(name->name));
  Expr after = in_range(is_up(op) ? BinaryOp::add : BinaryOp::subtract, expr,
                        place(target, std::nullopt), make::number(1), made_in);
  target_ = about(target);
  after = fitted(expr, std::move(after), made_in.base, target.type.base);
  target_ = outer;
  return make::assign(std::move(made.operands[0]), std::move(after));
}

/// What the value of a variable goes to: what the next statement stores, if computed from it.
RunObject CheckedFunction::goes_to(const std::string& variable) const {
  const auto* next = next_ == nullptr ? nullptr : std::get_if<Evaluate>(&next_->node);
  bool is_used = false;
  if (next != nullptr && std::holds_alternative<Assign>(next->value.node)) {
    for_each_expr(next->value.operands[1], [&](const Expr& part) {
      const auto* name = std::get_if<Name>(&part.node);
      is_used = is_used || (name != nullptr && name->name == variable);
    });
  }
  return is_used ? about(next->value.operands[0]) : RunObject{.name = variable};
}

Expr CheckedFunction::binary(BinaryOp op, const Expr& expr) {
  Expr made = operands(expr);
  if (!is_integer(expr.type.base) || !expr.type.is_scalar()) return made;
  if (kernel_.proofs.is_defined(expr)) return made;
  const bool points = !expr.operands[0].type.derivation.empty();
  switch (op) {
    case BinaryOp::divide:
    case BinaryOp::modulo:
      return quotient(op, expr, std::move(made.operands[0]), std::move(made.operands[1]),
                      expr.type);
    case BinaryOp::shift_left:
    case BinaryOp::shift_right:
      made.operands[1] = shift(expr, std::move(made.operands[1]), expr.type);
      if (op == BinaryOp::shift_right || !is_signed(expr.type.base)) return made;
      return shifted(expr, std::move(made.operands[0]), std::move(made.operands[1]), expr.type);
    case BinaryOp::add:
    case BinaryOp::subtract:
    case BinaryOp::multiply:
      if (points) return made;
      return in_range(op, expr, std::move(made.operands[0]), std::move(made.operands[1]),
                      expr.type);
    default:
      return made;
  }
}

Expr CheckedFunction::call(const Call& node, const Expr& expr) {
  Expr made = operands(expr);
  const FunctionDef* callee = kernel_.body.function(node.function);
  if (callee == nullptr) return library_call(node, expr, std::move(made));
  for (std::size_t i = 0; i < callee->parameters.size() && i < expr.operands.size(); ++i) {
    const Parameter& parameter = callee->parameters[i];
    if (!parameter.type.is_scalar()) continue;
    const RunObject outer = std::exchange(target_, RunObject{.name = parameter.name});
    made.operands[i] = converted(expr.operands[i], std::move(made.operands[i]), parameter.type);
    target_ = outer;
  }
  std::get<Call>(made.node).function = "op2_checked_" + node.function;
  for (Expr& argument : pointers_.arguments(*callee, expr)) {
    made.operands.push_back(std::move(argument));
  }
  made.operands.push_back(make::name(std::string(reports)));
  return made;
}

Expr CheckedFunction::assigned_pointer(const Assign& node, const Expr& expr) {
  Expr made = expr;
  made.operands[0] = place(expr.operands[0], node.op ? Use::increment : Use::store);
  made.operands[1] = value(expr.operands[1]);
  const auto* name = std::get_if<Name>(&expr.operands[0].node);
  if (name == nullptr) return made;
  auto follow = pointers_.follow(name->name, node.op ? expr : expr.operands[1]);
  return follow ? make::comma(std::move(*follow), std::move(made)) : made;
}

Expr CheckedFunction::assign(const Assign& node, const Expr& expr) {
  if (!expr.operands[0].type.derivation.empty()) return assigned_pointer(node, expr);
  const Expr& target = expr.operands[0];
  Expr made = assigned_to(target, node, expr);
  return node.op && is_watched_use(target) ? make::comma(has_value(target), std::move(made)) : made;
}

Expr CheckedFunction::assigned_to(const Expr& target, const Assign& node, const Expr& expr) {
  const Assigning how = assigning(target, node, expr);
  if (how.is_summed) {
    static_cast<void>(kernel_.sites.number(Check::made, expr, about(target)));
  }
  Expr made = expr;
  made.operands[0] = place(target, how.is_foreign ? Use::store : how.use);
  if (how.is_foreign && verdict(target, Use::store) == Verdict::fine) {
    made.operands[0] = place(target, Use::load);
  }
  const RunObject outer_target = std::exchange(target_, about(target));
  const std::size_t n_own = own_.size();
  if (how.update) own_.insert(own_.end(), how.update->own.begin(), how.update->own.end());
  Expr from = value(expr.operands[1]);
  own_.resize(n_own);
  std::optional<Expr> before;
  if (how.spells_out) {
    Expr old = old_value(target, how, before);
    from = spelt_out(target, *node.op, expr, how.made_in, std::move(old), std::move(from));
    made.node = Assign{};
  } else {
    if (node.op) from = update_operand(*node.op, target, expr, std::move(from));
    if (!how.is_summed) {
      from = node.op ? finite(expr.operands[1], std::move(from), target.type)
                     : converted(expr.operands[1], std::move(from), target.type);
    }
  }
  made.operands[1] = with_flag(target, std::move(from));
  target_ = outer_target;
  return before ? make::comma(std::move(*before), std::move(made)) : made;
}

CheckedFunction::Assigning CheckedFunction::assigning(const Expr& target, const Assign& node,
                                                      const Expr& expr) {
  Assigning how;
  how.update = update_of(expr);
  how.use = how.update ? how.update->use : node.op ? Use::increment : Use::store;
  how.is_summed =
      how.update && kernel_.suspects && !is_integer(target.type.base) && is_incremented(target);
  if (!node.op) return how;
  how.is_foreign = !how.update;
  how.made_in = base_of_update(*node.op, target, expr.operands[1]);
  how.is_read = how.is_foreign && !std::holds_alternative<Name>(target.node);
  const bool is_whole =
      is_integer(target.type.base) &&
      (is_signed(how.made_in) || is_floating(how.made_in) || has_sign(target.type.base)) &&
      !kernel_.proofs.is_defined(expr);
  how.spells_out = !how.is_summed && has_no_effect(target) &&
                   (is_floating(target.type.base) || is_whole || how.is_read);
  return how;
}

/// What @p target holds before the store, which gives it a value; @p before keeps what was read.
Expr CheckedFunction::old_value(const Expr& target, const Assigning& how,
                                std::optional<Expr>& before) {
  Expr old = place(target, std::nullopt);
  if (!how.is_read || verdict(target, Use::store) == Verdict::wrong) return old;
  Expr read = place(target, Use::load);
  if (read == old) return old;
  old = make::name(temporary(target.type));
  before = make::assign(old, std::move(read));
  return old;
}

/// `old op by`, for the `op=` of @p expr, with the checks of what that makes.
Expr CheckedFunction::spelt_out(const Expr& target, BinaryOp op, const Expr& expr, Base made_in,
                                Expr old, Expr by) {
  const Type& type = target.type;
  const Expr& operand = expr.operands[1];
  Expr made = is_floating(type.base) || is_floating(operand.type.base)
                  ? make::binary(op, std::move(old), std::move(by))
                  : updated(op, expr, target, std::move(old), std::move(by));
  if (is_integer(type.base)) return fitted(expr, std::move(made), made_in, type.base);
  if (!is_floating(type.base)) return made;
  Expr original = make::binary(op, target, operand);
  original.line = expr.line;
  original.type = type;
  std::vector<Expr> given;
  leaves(target, given);
  leaves(operand, given);
  return may_make(original, type) ? made_of(expr, std::move(made), type, given) : made;
}

/// The right-hand side @p by of an `op=` that stays one, checked where integers ask for it.
Expr CheckedFunction::update_operand(BinaryOp op, const Expr& target, const Expr& expr, Expr by) {
  if (!is_integer(target.type.base) || kernel_.proofs.is_defined(expr)) return by;
  const Type& type = expr.operands[1].type;
  const bool divides = op == BinaryOp::divide || op == BinaryOp::modulo;
  if (divides && is_integer(type.base)) return divisor(expr, std::move(by), type);
  const bool shifts = op == BinaryOp::shift_left || op == BinaryOp::shift_right;
  return shifts ? shift(expr, std::move(by), target.type) : by;
}

/// @p from, which also notes that the variable @p target has a value, where that is watched.
Expr CheckedFunction::with_flag(const Expr& target, Expr from) {
  const auto* name = std::get_if<Name>(&target.node);
  if (name == nullptr || !flags_.contains(name->name)) return from;
  const std::string held = temporary(target.type);
  return make::comma(make::comma(make::assign(make::name(held), std::move(from)),
                                 make::assign(make::name(flag_of(name->name)), make::number(1))),
                     make::name(held));
}

/// `old op by` of integers, for the variable @p target.
Expr CheckedFunction::updated(BinaryOp op, const Expr& expr, const Expr& target, Expr old,
                              Expr by) {
  const Type made_in = scalar(base_of_update(op, target, expr.operands[1]));
  switch (op) {
    case BinaryOp::divide:
    case BinaryOp::modulo:
      return quotient(op, expr, std::move(old), std::move(by), made_in);
    case BinaryOp::shift_left:
      by = shift(expr, std::move(by), target.type);
      if (!is_signed(made_in.base)) return make::binary(op, std::move(old), std::move(by));
      return shifted(expr, std::move(old), std::move(by), made_in);
    case BinaryOp::shift_right:
      return make::binary(op, std::move(old), shift(expr, std::move(by), target.type));
    case BinaryOp::add:
    case BinaryOp::subtract:
    case BinaryOp::multiply:
      return in_range(op, expr, std::move(old), std::move(by), made_in);
    default:
      return make::binary(op, std::move(old), std::move(by));
  }
}

// ------------------------------------------------------------------------------------------ places

Expr CheckedFunction::place(const Expr& expr, std::optional<Use> use) {
  const bool is_own = use == Use::load && std::ranges::find(own_, &expr) != own_.end();
  const bool is_used = use.has_value() && !is_own;
  const auto* unary = std::get_if<Unary>(&expr.node);
  if (std::holds_alternative<Index>(expr.node)) {
    Expr made = operands(expr);
    const Expr& base = expr.operands[0];
    const bool is_scalar = expr.type.derivation.empty();
    const auto reach = has_no_effect(base) ? pointers_.reach(base) : std::nullopt;
    made.operands[1] = inside(expr, std::move(made.operands[1]), reach);
    if (is_used && is_scalar) {
      made.operands[1] = used(expr, std::move(made.operands[1]), reach, use.value());
    }
    return made;
  }
  if (unary == nullptr || unary->op != UnaryOp::dereference) {
    return std::holds_alternative<Name>(expr.node) ? expr : operands(expr);
  }
  const Expr& base = expr.operands[0];
  Expr made = operands(expr);
  if (!has_no_effect(base)) return made;
  const auto reach = pointers_.reach(base);
  Expr at = inside(expr, make::number(0), reach);
  if (is_used && expr.type.derivation.empty()) {
    at = used(expr, std::move(at), reach, use.value());
  }
  if (make::value_of(at)) return made;
  return make::index(std::move(made.operands[0]), std::move(at));
}

RunObject CheckedFunction::about(const Expr& site) const {
  const Expr* base = &site;
  while (!base->operands.empty() &&
         (std::holds_alternative<Index>(base->node) || std::holds_alternative<Unary>(base->node) ||
          std::holds_alternative<Binary>(base->node))) {
    base = &base->operands[0];
  }
  RunObject found{.name = {}, .parameter = -1, .extent = -1};
  if (const auto* name = std::get_if<Name>(&base->node)) found.name = name->name;
  const RunObject* object = kernel_.proofs.object(site);
  if (object != nullptr && object->parameter >= 0) return *object;
  if (&function_ != &kernel_.body.entry()) return found;
  for (std::size_t i = 0; i < function_.parameters.size(); ++i) {
    if (function_.parameters[i].name == found.name) found.parameter = static_cast<int>(i);
  }
  return found;
}

Expr CheckedFunction::report(std::string function, std::vector<Expr> arguments, Check check,
                             const Expr& site) {
  // Of a value it matters where it goes to.
  const RunObject found = check >= Check::made ? target_ : about(site);
  arguments.push_back(make::number(kernel_.sites.number(check, site, found)));
  arguments.push_back(make::name(std::string(reports)));
  return make::call(std::move(function), std::move(arguments));
}

Expr CheckedFunction::inside(const Expr& site, Expr index, const std::optional<Reach>& reach) {
  const Type& array = site.operands[0].type;
  if (kernel_.proofs.is_inside(site)) return index;
  RunObject object = about(site);
  std::vector<Expr> arguments{std::move(index)};
  if (array.is_array() && array.derivation[0].extent >= 0) {
    object.extent = array.derivation[0].extent;
    arguments.push_back(make::number(0));
    arguments.push_back(make::number(object.extent));
    arguments.push_back(make::number(object.parameter));
  } else if (reach) {
    const std::int64_t width = std::max<std::int64_t>(n_scalars(site.type), 1);
    const Expr high = make::over(reach->high, width);
    const auto low = make::value_of(reach->low);
    if (const auto known = make::value_of(high); known && low && *low == 0) object.extent = *known;
    arguments.push_back(make::over(reach->low, width));
    arguments.push_back(high);
    arguments.push_back(reach->who);
  } else {
    return std::move(arguments.front());
  }
  arguments.push_back(make::number(kernel_.sites.number(Check::bounds, site, object)));
  arguments.push_back(make::name(std::string(reports)));
  return make::call("op2_at", std::move(arguments));
}

bool CheckedFunction::is_table(const std::string& name) const {
  const auto is_called = [&name](const Variable& table) { return table.name == name; };
  return std::ranges::any_of(kernel_.body.tables, is_called) ||
         kernel_.input.run.constants.contains(name);
}

/// Whether what is suspected of a target is left to a look at the sums, as nobody may read it here.
bool CheckedFunction::is_incremented(const Expr& target) {
  const auto& accesses = kernel_.input.accesses;
  const RunObject* object = kernel_.proofs.object(target);
  if (object != nullptr) {
    return object->parameter >= 0 &&
           accesses[static_cast<std::size_t>(object->parameter)] == Access::inc;
  }
  const bool may_be = !std::holds_alternative<Name>(target.node) &&
                      std::ranges::find(accesses, Access::inc) != accesses.end();
  if (may_be) kernel_.needs_bits = true;
  return may_be;
}

CheckedFunction::Verdict CheckedFunction::verdict_of_parameter(Access access, Use use,
                                                               bool is_set) const {
  switch (access) {
    case Access::read:
      return use == Use::load ? Verdict::fine : Verdict::wrong;
    case Access::rw:
    case Access::min:
    case Access::max:
      return Verdict::fine;
    case Access::inc:
      return use == Use::increment ? Verdict::fine : Verdict::wrong;
    case Access::write:
      if (use != Use::store && !is_set) return Verdict::ask;
      return use == Use::load ? Verdict::fine : Verdict::mark;
  }
  return Verdict::fine;
}

CheckedFunction::Verdict CheckedFunction::verdict(const Expr& site, Use use) const {
  const RunObject* object = kernel_.proofs.object(site);
  if (object == nullptr) return Verdict::ask;
  const bool is_set = kernel_.proofs.is_set(site);
  if (object->parameter >= 0) {
    const auto& access = kernel_.input.accesses[static_cast<std::size_t>(object->parameter)];
    return access ? verdict_of_parameter(*access, use, is_set) : Verdict::fine;
  }
  if (is_table(object->name)) return Verdict::fine;
  if (use != Use::store && !is_set) return Verdict::ask;
  return use == Use::load ? Verdict::fine : Verdict::mark;
}

/// Watch what a scalar is used for.
Expr CheckedFunction::used(const Expr& site, Expr index, const std::optional<Reach>& reach,
                           Use use) {
  const Verdict found = verdict(site, use);
  if (found == Verdict::fine) return index;
  if (found == Verdict::wrong) {
    Expr low = reach ? reach->low : make::number(0);
    return report("op2_wrong", {std::move(index), std::move(low)}, check_of(use), site);
  }
  const auto* array = std::get_if<Name>(&site.operands[0].node);
  const bool is_variable = array != nullptr && use != Use::store && arrays_.contains(array->name) &&
                           n_scalars(site.operands[0].type) == 1;
  if (found == Verdict::ask) kernel_.needs_bits = true;
  const bool is_watched = kernel_.has_bits && reach && reach->bits != make::number(0);
  if (!is_watched) return index;
  return report("op2_touch",
                {std::move(index), reach->low, reach->who, reach->bits, make::number(kind_of(use))},
                is_variable ? Check::unset : check_of(use), site);
}

}  // namespace op2::kernel
