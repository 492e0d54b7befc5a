// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/plain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "kernel/effects.hpp"
#include "kernel/fresh_names.hpp"
#include "kernel/known_functions.hpp"
#include "kernel/make.hpp"
#include "kernel/types.hpp"
#include "kernel/unique_names.hpp"
#include "kernel/verify.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

bool is_operator(const Expr& expr, BinaryOp op) {
  const auto* binary = std::get_if<Binary>(&expr.node);
  return binary != nullptr && binary->op == op;
}

bool is_cast_to_void(const Expr& expr) {
  const auto* cast = std::get_if<Cast>(&expr.node);
  return cast != nullptr && cast->target.base == Base::none && cast->target.derivation.empty();
}

bool is_dereference(const Expr& expr) {
  const auto* unary = std::get_if<Unary>(&expr.node);
  return unary != nullptr && unary->op == UnaryOp::dereference;
}

bool are_plain_values(const std::vector<Expr>& exprs) {
  return std::ranges::all_of(exprs, [](const Expr& expr) { return is_plain_value(expr); });
}

bool is_made(const Expr& expr) {
  return std::holds_alternative<Call>(expr.node) || is_struct_literal(expr);
}

bool is_plainly_made(const Expr& expr) {
  return is_made(expr) && are_plain_values(expr.operands);
}

bool holds_store(const Expr& expr) {
  return is_store(expr) || is_struct_literal(expr) ||
         std::ranges::any_of(expr.operands, holds_store);
}

// A choice without stores whose value no local of this tree can hold.
bool is_unknown_choice(const Expr& expr) {
  return std::holds_alternative<Ternary>(expr.node) && !expr.type.is_known() && !holds_store(expr);
}

// What evaluating an expression reads, or changes.
struct Touched {
  NameSet names;           // of variables
  bool is_memory = false;  // also arrays, and variables whose address is taken

  [[nodiscard]] bool is_nothing() const { return names.empty() && !is_memory; }
  [[nodiscard]] bool meets(const Touched& other) const {
    return (is_memory && other.is_memory) ||
           std::ranges::any_of(
               names, [&other](const std::string& name) { return other.names.contains(name); });
  }
};

// A value, or a pointer to values that it does not let change.
bool is_of_constants(const Type& type) {
  return type.derivation.empty() || (type.depth() == 1 && type.is_const);
}

// The functions of one kernel, as far as calls of them are concerned.
class Callees {
 public:
  explicit Callees(const KernelBody& kernel) : kernel_(kernel) {
    for (const FunctionDef& function : kernel.functions) {  // callees stand first
      bool stores = false;
      for_each_expr_in(function.body, [&](const Expr& expr) {
        const bool is_memory =
            is_store(expr) && !std::holds_alternative<Name>(expr.operands[0].node);
        stores = stores || is_memory || may_store(expr);
      });
      if (stores) storing_.insert(function.name);
    }
  }

  // Whether @p expr is a call that is given a pointer to what it may change.
  [[nodiscard]] bool may_store(const Expr& expr) const {
    const auto* call = std::get_if<Call>(&expr.node);
    if (call == nullptr) return false;
    const FunctionDef* own = kernel_.function(call->function);
    if (own != nullptr && !storing_.contains(call->function)) return false;
    const KnownFunction* known = own == nullptr ? known_function(call->function) : nullptr;
    for (std::size_t i = 0; i < expr.operands.size(); ++i) {
      if (expr.operands[i].type.is_scalar()) continue;
      const bool is_own = own != nullptr && i < own->parameters.size();
      const bool only_reads =
          is_own ? is_of_constants(own->parameters[i].type)
                 : known != nullptr && i < known->parameters.size() && !known->writes(i);
      if (!only_reads) return true;
    }
    return false;
  }

 private:
  const KernelBody& kernel_;
  NameSet storing_;  // functions that store behind pointers
};

// Splits the expressions of one function into statements.
class EffectSplitter {
 public:
  EffectSplitter(const Callees& callees, FunctionDef& function, const NameSet& taken)
      : callees_(callees), function_(function), fresh_(taken) {
    for_each_expr_in(function.body, [this](const Expr& expr) {
      const auto* unary = std::get_if<Unary>(&expr.node);
      if (unary == nullptr || unary->op != UnaryOp::address) return;
      if (const Name* of = variable_of(expr.operands[0])) addressed_.insert(of->name);
    });
  }

  /// @return Whether C leaves open in what order effects happen that meet each other.
  bool run() {
    function_.body = statements(function_.body);
    return is_open_;
  }

 private:
  // What a loop does before it begins anew: the step of a `for`, or the test of a `do`.
  struct LoopEnd {
    const Expr* step = nullptr;
    const Expr* test = nullptr;
    std::optional<Expr> goes_on = std::nullopt;  // the local that the test sets
  };

  // ---------------------------------------------------------------------------------- statements

  Body collected(const auto& emit_all) {
    Body* outer = std::exchange(out_, nullptr);
    Body made;
    out_ = &made;
    emit_all();
    out_ = outer;
    return made;
  }

  Body statements(const Body& body) {
    return collected([&] {
      for (const Stmt& stmt : body) statement(stmt);
    });
  }

  void emit(StmtNode node, int line) { out_->push_back({.node = std::move(node), .line = line}); }

  void statement(const Stmt& stmt) {
    const int line = stmt.line;
    std::visit(
        overload{[&](const Declare& node) { declare(node, line); },
                 [&](const Evaluate& node) { discard(node.value, line); },
                 [&](const Block& node) { emit(Block{statements(node.body)}, line); },
                 [&](const If& node) {
                   Expr condition = value(node.condition);
                   emit(If{std::move(condition), statements(node.then_body),
                           statements(node.else_body)},
                        line);
                 },
                 [&](const For& node) { loop(node, line); },
                 [&](const While& node) { node.is_do ? do_loop(node, line) : loop(node, line); },
                 [&](const Switch& node) { choose(node, line); },
                 [&](const Return& node) {
                   Return made;
                   if (node.value) {
                     const bool is_literal = is_struct_literal(*node.value);
                     made.value = is_literal ? initialiser(*node.value) : value(*node.value);
                   }
                   emit(std::move(made), line);
                 },
                 [&](const Break&) { emit(Break{}, line); },
                 [&](const Continue&) {
                   if (!ends_.empty()) end(ends_.back(), line);  // else the compiler refuses it
                   emit(Continue{}, line);
                 }},
        stmt.node);
  }

  void declare(const Declare& node, int line) {
    for (const Variable& variable : node.variables) {
      Variable made = variable;
      if (made.value && !node.is_static) made.value = initialiser(*made.value);
      emit(Declare{.is_static = node.is_static, .variables = {std::move(made)}}, line);
    }
  }

  static bool is_plain_start(const Body& init) {
    return std::ranges::all_of(init, [](const Stmt& stmt) {
      if (const auto* start = std::get_if<Evaluate>(&stmt.node)) return is_plain_head(start->value);
      const auto* declared = std::get_if<Declare>(&stmt.node);
      return declared != nullptr &&
             std::ranges::all_of(declared->variables, [](const Variable& variable) {
               return !variable.value || is_plain_initialiser(*variable.value);
             });
    });
  }

  void loop(const For& node, int line) {
    For made{.init = {}, .condition = node.condition, .step = node.step, .body = {}};
    made.is_unrolled = node.is_unrolled;
    if (is_plain_start(node.init)) {
      made.init = node.init;
    } else {
      for (const Stmt& stmt : node.init) statement(stmt);
    }
    const bool is_plain_step = !node.step || is_plain_head(*node.step);
    const LoopEnd at_end{.step = is_plain_step ? nullptr : &*node.step};
    if (!is_plain_step) made.step.reset();
    tested(made, at_end, node.body, line);
  }

  void loop(const While& node, int line) {
    if (is_plain_value(node.condition)) {
      ends_.push_back({});
      emit(While{.condition = node.condition, .body = statements(node.body)}, line);
      ends_.pop_back();
      return;
    }
    For made{.init = {}, .condition = node.condition, .step = {}, .body = {}};
    tested(made, {}, node.body, line);
  }

  // A condition with effects is tested where the body begins.
  void tested(For& made, const LoopEnd& at_end, const Body& body, int line) {
    ends_.push_back(at_end);
    made.body = collected([&] {
      if (made.condition && !is_plain_value(*made.condition)) {
        Expr leaves = negated(value(*made.condition));
        emit(If{std::move(leaves), {{Break{}, line}}, {}}, line);
        made.condition.reset();
      }
      for (const Stmt& stmt : body) statement(stmt);
      end(at_end, line);
    });
    ends_.pop_back();
    emit(std::move(made), line);
  }

  void do_loop(const While& node, int line) {
    LoopEnd at_end;
    While made{.condition = node.condition, .body = {}, .is_do = true};
    if (!is_plain_value(node.condition)) {
      made.condition = local(scalar(Base::int32), std::nullopt, line);
      at_end = {.test = &node.condition, .goes_on = made.condition};
    }
    ends_.push_back(at_end);
    made.body = collected([&] {
      for (const Stmt& stmt : node.body) statement(stmt);
      end(at_end, line);
    });
    ends_.pop_back();
    emit(std::move(made), line);
  }

  void end(const LoopEnd& at_end, int line) {
    if (at_end.step != nullptr) discard(*at_end.step, line);
    if (at_end.test != nullptr) assign(*at_end.goes_on, truth(value(*at_end.test)), line);
  }

  // C++ refuses jumps past initialised variables: what one statement becomes is a block.
  void choose(const Switch& node, int line) {
    Switch made{.value = value(node.value), .cases = {}};
    for (const Case& entry : node.cases) {
      Body body;
      for (const Stmt& stmt : entry.body) {
        Body parts = collected([&] { statement(stmt); });
        const bool is_kept = parts.size() < 2 || std::holds_alternative<Declare>(stmt.node);
        if (!is_kept) parts = {{Block{std::move(parts)}, stmt.line}};
        std::ranges::move(parts, std::back_inserter(body));
      }
      made.cases.push_back({.label = entry.label, .body = std::move(body)});
    }
    emit(std::move(made), line);
  }

  // ------------------------------------------------------------------------------------- effects

  // Evaluate an expression for its effects; its value is not used.
  void discard(const Expr& expr, int line) {
    if (is_plain_effect(expr)) {
      emit(Evaluate{expr}, line);
    } else if (std::holds_alternative<Assign>(expr.node)) {
      emit(Evaluate{stored(expr)}, line);
    } else if (is_step(expr)) {
      Expr made = expr;
      made.operands = {place(expr.operands[0], {})};
      emit(Evaluate{std::move(made)}, line);
    } else if (is_operator(expr, BinaryOp::comma)) {
      for (const Expr& operand : expr.operands) discard(operand, line);
    } else if (is_operator(expr, BinaryOp::logical_and)) {
      Expr condition = value(expr.operands[0]);
      emit(If{std::move(condition), discarded(expr.operands[1], line), {}}, line);
    } else if (is_operator(expr, BinaryOp::logical_or)) {
      Expr condition = negated(value(expr.operands[0]));
      emit(If{std::move(condition), discarded(expr.operands[1], line), {}}, line);
    } else if (std::holds_alternative<Ternary>(expr.node)) {
      Expr condition = value(expr.operands[0]);
      emit(If{std::move(condition), discarded(expr.operands[1], line),
              discarded(expr.operands[2], line)},
           line);
    } else if (is_cast_to_void(expr)) {
      discard(expr.operands[0], line);
    } else if (std::holds_alternative<Call>(expr.node)) {
      emit(Evaluate{with_operands(expr)}, line);
    } else {
      Expr left = value(expr);
      const bool says_nothing =
          std::holds_alternative<Name>(left.node) || std::holds_alternative<Literal>(left.node);
      if (!says_nothing) emit(Evaluate{std::move(left)}, line);
    }
  }

  Body discarded(const Expr& expr, int line) {
    return collected([&] { discard(expr, line); });
  }

  // The assignment alone, once the statements that have the effects of its sides have run.
  Expr stored(const Expr& expr) {
    Expr made = expr;
    note_order_of_store(expr);
    made.operands[0] = place(expr.operands[0], changed_by(expr.operands[1]));
    const bool is_simple = !std::get<Assign>(expr.node).op;
    made.operands[1] = is_simple ? initialiser(expr.operands[1]) : value(expr.operands[1]);
    return made;
  }

  void assign(Expr target, Expr what, int line) {
    Type type = target.type;
    emit(Evaluate{{Assign{}, {std::move(target), std::move(what)}, std::move(type), line}}, line);
  }

  // ------------------------------------------------------------------------------------- values

  // What has the value of an expression, where a call may stay.
  Expr initialiser(const Expr& expr) {
    if (is_plain_initialiser(expr)) return expr;
    return is_made(expr) ? with_operands(expr) : value(expr);
  }

  // What has the value of an expression, once the statements that have its effects have run.
  Expr value(const Expr& expr) {
    if (is_plain_value(expr)) return expr;
    if (is_step(expr)) return counted_value(expr);
    if (is_operator(expr, BinaryOp::comma)) {
      discard(expr.operands[0], expr.line);
      return value(expr.operands[1]);
    }
    const bool is_and = is_operator(expr, BinaryOp::logical_and);
    if (is_and || is_operator(expr, BinaryOp::logical_or)) {
      return is_plain_value(expr.operands[1]) ? with_operands(expr) : logical(expr, is_and);
    }
    if (std::holds_alternative<Assign>(expr.node)) return assigned_value(expr);
    if (std::holds_alternative<Ternary>(expr.node)) return chosen(expr);
    const bool is_place = std::holds_alternative<Index>(expr.node) ||
                          std::holds_alternative<MemberOf>(expr.node) || is_dereference(expr);
    if (is_place) return place(expr, {});
    Expr made = with_operands(expr);
    return is_plain_value(made) ? made : local(made.type, made, expr.line);
  }

  Expr counted_value(const Expr& expr) {
    Expr target = place(expr.operands[0], {});
    Expr step = expr;
    step.operands = {target};
    std::optional<Expr> before;
    if (is_post_step(std::get<Unary>(expr.node).op)) before = held(target);
    emit(Evaluate{std::move(step)}, expr.line);
    if (before) return *before;
    return std::holds_alternative<Name>(target.node) ? target : held(target);
  }

  Expr assigned_value(const Expr& expr) {
    const bool is_name = std::holds_alternative<Name>(expr.operands[0].node);
    if (is_name || std::get<Assign>(expr.node).op) {
      Expr made = stored(expr);
      Expr target = made.operands[0];
      emit(Evaluate{std::move(made)}, expr.line);
      return is_name ? target : held(target);
    }
    note_order_of_store(expr);
    Expr target = place(expr.operands[0], changed_by(expr.operands[1]));
    Expr what = initialiser(expr.operands[1]);
    what = local(target.type, std::move(what), expr.line);  // converted, as the value is
    assign(std::move(target), what, expr.line);
    return what;
  }

  Expr logical(const Expr& expr, bool is_and) {
    const Expr result = local(expr.type, truth(value(expr.operands[0])), expr.line);
    Body other =
        collected([&] { assign(result, truth(value(expr.operands[1])), expr.operands[1].line); });
    emit(If{is_and ? result : negated(result), std::move(other), {}}, expr.line);
    return result;
  }

  Expr chosen(const Expr& expr) {
    Expr condition = value(expr.operands[0]);
    if (is_plain_value(expr.operands[1]) && is_plain_value(expr.operands[2])) {
      Expr made = expr;
      made.operands[0] = std::move(condition);
      return made;
    }
    const Expr result = local(expr.type, std::nullopt, expr.line);
    const auto side = [&](const Expr& operand) {
      return collected([&] { assign(result, initialiser(operand), operand.line); });
    };
    emit(If{std::move(condition), side(expr.operands[1]), side(expr.operands[2])}, expr.line);
    return result;
  }

  // An lvalue, or the value of what is none; @p later changes what its parts must not read then.
  Expr place(const Expr& expr, const Touched& later) {
    if (std::holds_alternative<Index>(expr.node) || is_dereference(expr)) {
      return steady(with_operands(expr), later);
    }
    if (std::holds_alternative<MemberOf>(expr.node)) {
      Expr made = expr;
      made.operands[0] = place(expr.operands[0], later);
      return made;
    }
    return value(expr);
  }

  // A place that stays the same while what comes @p later is changed.
  Expr steady(Expr expr, const Touched& later) {
    const bool has_parts = std::holds_alternative<Index>(expr.node) ||
                           std::holds_alternative<MemberOf>(expr.node) || is_dereference(expr);
    if (!has_parts) return expr;
    for (Expr& operand : expr.operands) {
      const bool is_place = operand.type.is_array() || std::holds_alternative<MemberOf>(expr.node);
      operand = is_place ? steady(std::move(operand), later) : safe(std::move(operand), later);
    }
    return expr;
  }

  // The same expression over operands without effects, which are evaluated from left to right.
  Expr with_operands(const Expr& expr) {
    Expr made = expr;
    const auto* unary = std::get_if<Unary>(&expr.node);
    if (unary != nullptr && unary->op == UnaryOp::address) {
      made.operands = {place(expr.operands[0], {})};
      return made;
    }
    note_order_of(expr.operands);
    for (std::size_t i = 0; i < made.operands.size(); ++i) {
      Touched later;
      for (std::size_t k = i + 1; k < made.operands.size(); ++k)
        add_changed(expr.operands[k], later);
      made.operands[i] = safe(value(expr.operands[i]), later);
    }
    return made;
  }

  // A value as it is now, if what comes later might change it.
  Expr safe(Expr what, const Touched& later) {
    if (std::holds_alternative<InitList>(what.node)) {
      for (Expr& operand : what.operands) operand = safe(std::move(operand), later);
      return what;
    }
    if (what.type.is_array()) return steady(std::move(what), later);
    return what.type.is_known() && read_by(what).meets(later) ? held(what) : what;
  }

  Expr held(const Expr& what) { return local(what.type, what, what.line); }

  // A new local of this type, once qualifiers are gone.
  Expr local(const Type& type, std::optional<Expr> what, int line) {
    std::string name = fresh_.take(fmt::format("op2_value{}", ++n_locals_));
    Type own = value_type(type);
    Variable variable{.name = name, .type = own, .value = std::move(what), .line = line};
    emit(Declare{.is_static = false, .variables = {std::move(variable)}}, line);
    return {Name{std::move(name)}, {}, std::move(own), line};
  }

  static Expr negated(Expr condition) {
    const int line = condition.line;
    return {Unary{UnaryOp::logical_not}, {std::move(condition)}, scalar(Base::int32), line};
  }

  // 1 or 0, as `&&` and `||` have it.
  static Expr truth(Expr condition) {
    const auto* binary = std::get_if<Binary>(&condition.node);
    const auto* unary = std::get_if<Unary>(&condition.node);
    const bool is_truth =
        (binary != nullptr && binary->op >= BinaryOp::less && binary->op <= BinaryOp::not_equal) ||
        (binary != nullptr && binary->op >= BinaryOp::logical_and &&
         binary->op <= BinaryOp::logical_or) ||
        (unary != nullptr && unary->op == UnaryOp::logical_not);
    return is_truth ? condition : negated(negated(std::move(condition)));
  }

  // -------------------------------------------------------------------------------------- effects

  // The variable that a place is, or is a member of.
  static const Name* variable_of(const Expr& expr) {
    const Expr* at = &expr;
    while (std::holds_alternative<MemberOf>(at->node)) at = &at->operands[0];
    return std::get_if<Name>(&at->node);
  }

  // C evaluates these in any order.
  void note_order_of(const std::vector<Expr>& operands) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Touched changed = changed_by(operands[i]);
      if (changed.is_nothing()) continue;
      for (std::size_t k = 0; k < operands.size(); ++k) {
        const bool meets = changed.meets(read_by(operands[k])) ||
                           (k > i && changed.meets(changed_by(operands[k])));
        is_open_ = is_open_ || (k != i && meets);
      }
    }
  }

  // The store itself comes last; before, its place is found beside its value.
  void note_order_of_store(const Expr& expr) {
    if (std::get<Assign>(expr.node).op) return note_order_of(expr.operands);
    std::vector<Expr> parts{expr.operands[1]};
    if (!std::holds_alternative<Name>(expr.operands[0].node)) {
      std::ranges::copy(expr.operands[0].operands, std::back_inserter(parts));
    }
    note_order_of(parts);
  }

  Touched changed_by(const Expr& expr) const {
    Touched found;
    add_changed(expr, found);
    return found;
  }

  void add_changed(const Expr& expr, Touched& found) const {
    for_each_expr(expr, [this, &found](const Expr& part) {
      if (is_store(part)) {
        const Name* name = variable_of(part.operands[0]);
        if (name != nullptr) found.names.insert(name->name);
        if (name == nullptr || part.operands[0].type.base == Base::structure)
          found.is_memory = true;
      } else {
        found.is_memory |= callees_.may_store(part);
      }
    });
  }

  [[nodiscard]] Touched read_by(const Expr& expr) const {
    Touched found;
    for_each_expr(expr, [&](const Expr& part) {
      const auto* name = std::get_if<Name>(&part.node);
      if (name == nullptr) {
        const bool is_call = std::holds_alternative<Call>(part.node);
        const bool takes_memory =
            is_call && std::ranges::any_of(part.operands, [](const Expr& operand) {
              return !operand.type.is_scalar();
            });
        // a row of an array is an address: nothing is read for it
        const bool is_read = std::holds_alternative<Index>(part.node) || is_dereference(part);
        found.is_memory |= takes_memory || (is_read && !part.type.is_array());
      } else if (!part.type.is_array()) {
        found.names.insert(name->name);
        found.is_memory |= addressed_.contains(name->name) || part.type.base == Base::structure;
      }
    });
    return found;
  }

  const Callees& callees_;
  FunctionDef& function_;
  FreshNames fresh_;
  NameSet addressed_;
  int n_locals_ = 0;
  bool is_open_ = false;
  std::vector<LoopEnd> ends_;  // of the loops around
  Body* out_ = nullptr;
};

struct Split {
  KernelBody body;
  bool is_open = false;
};

Split split_effects(const KernelBody& body) {
  Split made{body};
  const NameSet taken = names_in(body);
  const Callees callees(body);
  for (FunctionDef& function : made.body.functions) {
    made.is_open = EffectSplitter(callees, function, taken).run() || made.is_open;
  }
  made.body = infer_types(std::move(made.body));
  return made;
}

KernelBody with_effects_as_statements(KernelBody body) {
  return split_effects(body).body;
}

struct KernelPass {
  std::string_view name;
  KernelForm form;  // of what it leaves
  KernelBody (*run)(KernelBody);
};

constexpr KernelPass kernel_passes[] = {
    {"names", KernelForm::named, with_unique_names},
    {"effects", KernelForm::plain, with_effects_as_statements},
};

void verify_kernel_after(const KernelPass& pass, const KernelBody& body) {
  try {
    verify(body, pass.form);
  } catch (const InternalError& error) {
    throw InternalError(fmt::format("after pass '{}' of kernels: {}", pass.name, error.what()));
  }
}

}  // namespace

bool is_plain_value(const Expr& value) {
  if (std::holds_alternative<SizeOf>(value.node) || is_unknown_choice(value)) return true;
  return !is_struct_literal(value) &&
         has_no_own_effect(value, [](const Expr& call) { return !call.type.is_known(); }) &&
         are_plain_values(value.operands);
}

bool is_plain_result(const Expr& value) {
  return is_plain_value(value) || (is_struct_literal(value) && is_plainly_made(value));
}

bool is_struct_literal(const Expr& expr) {
  return std::holds_alternative<Cast>(expr.node) &&
         std::holds_alternative<InitList>(expr.operands[0].node);
}

bool is_plain_effect(const Expr& value) {
  if (is_step(value) || is_plainly_made(value)) return are_plain_values(value.operands);
  const auto* assign = std::get_if<Assign>(&value.node);
  if (assign == nullptr) return is_plain_value(value);
  const Expr& from = value.operands[1];
  return is_plain_value(value.operands[0]) &&
         (is_plain_value(from) || (!assign->op && is_plainly_made(from)));
}

bool is_plain_head(const Expr& value) {
  if (!is_operator(value, BinaryOp::comma)) return is_plain_effect(value);
  return std::ranges::all_of(value.operands, is_plain_head);
}

bool is_plain_initialiser(const Expr& value) {
  return is_plain_value(value) || is_plainly_made(value);
}

bool is_plain(const KernelBody& body) {
  return with_effects_as_statements(body).functions == infer_types(body).functions;
}

bool has_open_order(const KernelBody& body) {
  return split_effects(with_unique_names(infer_types(body))).is_open;
}

bool is_typed(const KernelBody& body) {
  bool all = true;
  for (const FunctionDef& function : body.functions) {
    for_each_body(function.body, [&all](const Body& statements) {
      for (const Stmt& stmt : statements) {
        const auto* declared = std::get_if<Declare>(&stmt.node);
        if (declared == nullptr) continue;
        for (const Variable& one : declared->variables) all = all && one.type.is_known();
      }
    });
  }
  return all;
}

KernelBody plain(KernelBody body, const std::vector<Variable>& constants,
                 const KernelObserver& observe) {
  body.tables.insert(body.tables.begin(), constants.begin(), constants.end());
  body = infer_types(std::move(body));
  for (const KernelPass& pass : kernel_passes) {
    body = pass.run(std::move(body));
    verify_kernel_after(pass, body);
    if (observe) observe(pass.name, body);
  }
  body.tables.erase(body.tables.begin(),
                    body.tables.begin() + static_cast<std::ptrdiff_t>(constants.size()));
  return body;
}

std::optional<KernelBody> plain_in_c(KernelBody body, const std::vector<Variable>& constants,
                                     const KernelObserver& observe) {
  body = plain(std::move(body), constants, observe);
  return is_typed(body) ? std::optional(spelled(std::move(body))) : std::nullopt;
}

}  // namespace op2::kernel
