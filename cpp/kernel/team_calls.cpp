// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/team_calls.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernel/cost.hpp"
#include "kernel/effects.hpp"
#include "kernel/fresh_names.hpp"
#include "kernel/integers.hpp"
#include "kernel/make.hpp"
#include "kernel/teams.hpp"
#include "kernel/types.hpp"
#include "kernel/unique_names.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

/// Stores of a loop are followed for so many steps.
constexpr std::int64_t most_spread_steps = 1 << 16;

/// The array that an element, or an address in it, belongs to; nothing: none by name.
const std::string* root_of(const Expr& expr) {
  const Expr* at = &expr;
  while (!at->operands.empty() && !std::holds_alternative<Call>(at->node)) at = &at->operands[0];
  const auto* name = std::get_if<Name>(&at->node);
  return name == nullptr ? nullptr : &name->name;
}

/// @brief Arrays with two subscripts as arrays with one.
class Flattener {
 public:
  /// @return False if a whole row or array is used otherwise than by its address.
  bool run(FunctionDef& function) {
    for (Parameter& parameter : function.parameters) {
      Type& type = parameter.type;
      if (type.depth() == 2 && type.derivation[1].kind == Derivation::Kind::array) {
        widths_[parameter.name] = type.derivation[1].extent;
        type.derivation.pop_back();
      }
    }
    walk_scoped(function.body, *this);
    for_each_body(function.body, [this](Body& body) {
      for (Stmt& stmt : body) {
        auto* declared = std::get_if<Declare>(&stmt.node);
        if (declared == nullptr) continue;
        for (Variable& variable : declared->variables) flatten(variable);
      }
    });
    return is_possible_;
  }

  void enter() {}
  void leave() {}
  void declare(const Variable& variable) {
    const Type& type = variable.type;
    if (type.is_array() && type.depth() == 2) widths_[variable.name] = type.derivation[1].extent;
  }
  void expression(Expr& expr) {
    const std::int64_t* outer = width_of(expr);
    if (outer != nullptr) {
      is_possible_ = false;
      return;
    }
    if (std::holds_alternative<Index>(expr.node)) {
      Expr& array = expr.operands[0];
      if (const std::int64_t* width = width_of(array)) {  // the address of a row
        expression(expr.operands[1]);
        Expr at = make::times(std::move(expr.operands[1]), *width);
        Expr whole = std::move(array);
        expr = make::sum(BinaryOp::add, std::move(whole), std::move(at));
        return;
      }
      const bool is_row = std::holds_alternative<Index>(array.node);
      if (const std::int64_t* width = is_row ? width_of(array.operands[0]) : nullptr) {
        expression(array.operands[1]);
        expression(expr.operands[1]);
        Expr at = make::times(std::move(array.operands[1]), *width);
        at = make::sum(BinaryOp::add, std::move(at), std::move(expr.operands[1]));
        Expr whole = std::move(array.operands[0]);
        expr = make::index(std::move(whole), std::move(at));
        return;
      }
    }
    for (Expr& operand : expr.operands) expression(operand);
  }

 private:
  [[nodiscard]] const std::int64_t* width_of(const Expr& expr) const {
    const auto* name = std::get_if<Name>(&expr.node);
    const auto found = name == nullptr ? widths_.end() : widths_.find(name->name);
    return found == widths_.end() ? nullptr : &found->second;
  }

  void flatten(Variable& variable) const {
    if (!widths_.contains(variable.name)) return;
    auto& steps = variable.type.derivation;
    steps.front().extent *= steps.back().extent;
    steps.pop_back();
  }

  std::map<std::string, std::int64_t, std::less<>> widths_;
  bool is_possible_ = true;
};

/// @brief Finds whether each stored entry of a loop belongs to a single step. Stores must go to
/// arrays of @p shared, or to variables declared in the loop.
class Spread {
 public:
  Spread(const NameSet& shared, Integers known) : shared_(shared), known_(std::move(known)) {}

  bool is_possible(const For& loop) {
    const auto range = counted(loop, known_);
    if (!range || range->stride != 1 || !std::holds_alternative<Declare>(loop.init.front().node)) {
      return false;
    }
    collect(loop.body);
    for (std::int64_t i = 0; is_possible_ && i < range->n; ++i) {
      known_[range->name] = range->first + i;
      step_ = i;
      follow(loop.body);
    }
    return is_possible_;
  }

 private:
  void collect(const Body& body) {
    for_each_expr_in(body, [this](const Expr& expr) {
      if (!is_store(expr)) return;
      const std::string* root = root_of(expr.operands[0]);
      if (root != nullptr && shared_.contains(*root)) stored_.insert(*root);
    });
  }

  void follow(const Body& body) {
    for (const Stmt& stmt : body) {
      if (++n_steps_ > most_spread_steps) is_possible_ = false;
      if (!is_possible_) return;
      if (const auto* block = std::get_if<Block>(&stmt.node)) {
        follow(block->body);
      } else if (const auto* branch = std::get_if<If>(&stmt.node)) {
        look_at(branch->condition);
        follow(branch->then_body);
        follow(branch->else_body);
      } else if (const auto* loop = std::get_if<For>(&stmt.node)) {
        inner(*loop);
      } else if (const auto* declared = std::get_if<Declare>(&stmt.node)) {
        for (const Variable& variable : declared->variables) {
          own_.insert(variable.name);
          if (variable.value) look_at(*variable.value);
        }
      } else if (const auto* done = std::get_if<Evaluate>(&stmt.node)) {
        look_at(done->value);
      } else {
        is_possible_ = false;
      }
    }
  }

  void inner(const For& loop) {
    const auto range = counted(loop, known_);
    if (!range || loop.init.empty() || !std::holds_alternative<Declare>(loop.init.front().node)) {
      is_possible_ = false;
      return;
    }
    for (std::int64_t i = 0; is_possible_ && i < range->n; ++i) {
      known_[range->name] = range->first + i * range->stride;
      follow(loop.body);
    }
    known_.erase(range->name);
  }

  void look_at(const Expr& expr) {
    if (is_store(expr)) {
      const std::string* root = root_of(expr.operands[0]);
      if (root == nullptr) {
        is_possible_ = false;
      } else if (stored_.contains(*root)) {
        own_entry(expr.operands[0]);
      } else {
        is_possible_ &= own_.contains(*root);
      }
    } else if (std::holds_alternative<Index>(expr.node) ||
               std::holds_alternative<Name>(expr.node)) {
      const std::string* root = root_of(expr);
      if (root != nullptr && stored_.contains(*root)) return own_entry(expr);
    } else if (!has_no_own_effect(expr, [](const Expr&) { return false; })) {
      is_possible_ = false;
    }
    for (const Expr& operand : expr.operands) {
      if (!is_store(expr) || &operand != &expr.operands[0]) look_at(operand);
    }
  }

  /// An entry belongs to the first step that uses it.
  void own_entry(const Expr& entry) {
    const bool is_entry = std::holds_alternative<Index>(entry.node) &&
                          std::holds_alternative<Name>(entry.operands[0].node);
    const auto at = is_entry ? integer_value(entry.operands[1], known_) : std::nullopt;
    if (!at) {
      is_possible_ = false;
      return;
    }
    const auto [owner, is_new] = owners_.try_emplace({*root_of(entry), *at}, step_);
    is_possible_ &= is_new || owner->second == step_;
  }

  const NameSet& shared_;
  Integers known_;
  NameSet stored_;
  NameSet own_;
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> owners_;
  std::int64_t step_ = 0;
  std::int64_t n_steps_ = 0;
  bool is_possible_ = true;
};

/// @brief The numbers in arrays of @p function itself. Registers have no addresses, so loops that
/// all lanes go through alike are written out where there are arrays.
std::int64_t kept_in_registers(FunctionDef& function) {
  std::int64_t n_numbers = 0;
  for_each_body(function.body, [&](Body& body) {
    for (const Stmt& stmt : body) {
      const auto* declared = std::get_if<Declare>(&stmt.node);
      if (declared == nullptr) continue;
      for (const Variable& variable : declared->variables) {
        if (variable.type.is_array()) n_numbers += variable.type.derivation.front().extent;
      }
    }
  });
  if (n_numbers == 0) return 0;
  const std::string& lane = function.parameters.at(function.parameters.size() - 3).name;
  for_each_body(function.body, [&](Body& body) {
    for (Stmt& stmt : body) {
      auto* loop = std::get_if<For>(&stmt.node);
      if (loop == nullptr) continue;
      bool is_by_lane = false;
      for_each_expr_in(loop->init, [&](const Expr& expr) {
        const auto* name = std::get_if<Name>(&expr.node);
        is_by_lane |= name != nullptr && name->name == lane;
      });
      loop->is_unrolled = !is_by_lane;
    }
  });
  return n_numbers;
}

/// @brief Rewrites the entry function.
class TeamCalls {
 public:
  TeamCalls(const KernelBody& kernel, FreshNames& names)
      : kernel_(kernel),
        names_(names),
        known_(constant_integers(kernel)),
        lane_(names.take("op2_lane")),
        n_lanes_(names.take("op2_lanes")),
        memory_(names.take("op2_shared")) {}

  std::optional<TeamForm> run() {
    FunctionDef entry = kernel_.entry();
    if (!Flattener().run(entry)) return {};
    for (const Parameter& parameter : entry.parameters) {
      if (parameter.type.is_pointer()) shared_.insert(parameter.name);
    }
    find_handed(entry.body);
    Body out;
    if (!statements(entry.body, out) || called_.empty() || !is_worth_it()) return {};
    return made(std::move(entry), std::move(out));
  }

 private:
  [[nodiscard]] const TeamFunction* team_function(const Expr& expr) const {
    const auto* call = std::get_if<Call>(&expr.node);
    if (call == nullptr) return nullptr;
    const auto found = std::ranges::find(kernel_.team_functions, call->function,
                                         [](const auto& one) { return one.function.name; });
    return found == kernel_.team_functions.end() ? nullptr : &*found;
  }

  template <class Part>
  [[nodiscard]] bool calls_team(const Part& part) const {
    bool found = false;
    const auto look = [&](const Expr& expr) { found |= team_function(expr) != nullptr; };
    if constexpr (std::is_same_v<Part, Expr>) {
      for_each_expr(part, look);
    } else {
      for_each_expr_in(part, look);
    }
    return found;
  }

  /// Arrays handed to functions of teams are shared, wherever they are declared.
  void find_handed(const Body& body) {
    for_each_expr_in(body, [this](const Expr& expr) {
      if (team_function(expr) == nullptr) return;
      for (const Expr& argument : expr.operands) {
        const std::string* root = argument.type.is_scalar() ? nullptr : root_of(argument);
        if (root == nullptr) continue;
        shared_.insert(*root);
        handed_.insert(*root);
      }
    });
  }

  // ---------------------------------------------------------------------------------- statements

  bool statements(const Body& body, Body& out) {
    return std::ranges::all_of(body, [&](const Stmt& stmt) { return statement(stmt, out); });
  }

  bool statement(const Stmt& stmt, Body& out) {
    if (const auto* block = std::get_if<Block>(&stmt.node)) {
      Body inner;
      if (!statements(block->body, inner)) return false;
      out.push_back({.node = Block{std::move(inner)}, .line = stmt.line});
      return true;
    }
    if (const auto* declared = std::get_if<Declare>(&stmt.node))
      return declare(*declared, stmt, out);
    if (const auto* done = std::get_if<Evaluate>(&stmt.node))
      return evaluate(done->value, stmt, out);
    if (const auto* branch = std::get_if<If>(&stmt.node)) {
      if (!has_no_effect(branch->condition)) return false;
      If made{.condition = branch->condition, .then_body = {}, .else_body = {}};
      if (!statements(branch->then_body, made.then_body)) return false;
      if (!statements(branch->else_body, made.else_body)) return false;
      out.push_back({.node = std::move(made), .line = stmt.line});
      return true;
    }
    if (const auto* loop = std::get_if<For>(&stmt.node)) return repeat(*loop, stmt, out);
    return std::holds_alternative<Break>(stmt.node) || std::holds_alternative<Continue>(stmt.node)
               ? (out.push_back(stmt), true)
               : false;
  }

  bool declare(const Declare& node, const Stmt& stmt, Body& out) {
    if (node.is_static) {
      out.push_back(stmt);
      return true;
    }
    if (node.variables.size() != 1) return false;
    const Variable& variable = node.variables.front();
    if (variable.type.is_array() && shared_.contains(variable.name)) return place(variable, out);
    if (!variable.type.is_scalar() && !variable.type.is_array()) return false;  // may lead anywhere
    if (!variable.value) {
      out.push_back(stmt);
      return true;
    }
    if (team_function(*variable.value) != nullptr) {
      Variable made = variable;
      made.value = call(*variable.value, out);
      out.push_back(
          {.node = Declare{.is_static = false, .variables = {std::move(made)}}, .line = stmt.line});
      barrier(out);
      return true;
    }
    if (calls_team(*variable.value) || !has_no_effect(*variable.value)) return false;
    out.push_back(stmt);
    return note_alike({stmt});
  }

  /// A local array in memory of the block, zero if it was.
  bool place(const Variable& variable, Body& out) {
    if (variable.type.depth() != 1 || !has_base(variable.type.base)) return false;
    const std::int64_t extent = variable.type.derivation.front().extent;
    Type type = pointer_to(scalar(variable.type.base));
    type.is_shared = true;
    out.push_back(make::declare(variable.name, type, in_memory(n_placed_)));
    n_placed_ += extent;
    if (!variable.value) return true;
    const auto* list = std::get_if<InitList>(&variable.value->node);
    bool is_zero = list != nullptr;
    for_each_expr(*variable.value, [&](const Expr& expr) {
      const bool is_list = std::holds_alternative<InitList>(expr.node);
      const auto* literal = std::get_if<Literal>(&expr.node);
      is_zero &= is_list || (literal != nullptr &&
                             literal->spelling.find_first_not_of("0.f") == std::string::npos);
    });
    if (!is_zero) return false;
    const std::string i = names_.take("op2_i");
    barrier(out);
    out.push_back(
        over_lanes(i, make::number(0), make::number(extent),
                   {make::evaluate(make::assign(
                       make::index(make::name(variable.name), make::name(i)), make::number(0)))}));
    barrier(out);
    return true;
  }

  bool evaluate(const Expr& value, const Stmt& stmt, Body& out) {
    if (team_function(value) != nullptr) {
      Expr made = call(value, out);
      out.push_back(make::evaluate(std::move(made)));
      barrier(out);
      return true;
    }
    const bool is_of_call =
        std::holds_alternative<Assign>(value.node) && team_function(value.operands[1]) != nullptr;
    if (is_of_call) {
      const std::string name = names_.take("op2_result");
      Expr made = call(value.operands[1], out);
      out.push_back(make::declare(name, value.operands[1].type, std::move(made)));
      barrier(out);
      Expr kept = value;
      kept.operands[1] = make::name(name);
      return evaluate(kept, make::evaluate(kept), out);
    }
    if (calls_team(value)) return false;
    if (has_no_effect(value)) return true;
    if (!is_store(value)) return false;
    const bool is_plain = std::ranges::all_of(
        value.operands, [](const Expr& operand) { return has_no_effect(operand); });
    const std::string* root = root_of(value.operands[0]);
    if (!is_plain || root == nullptr) return false;
    if (shared_.contains(*root)) return alone({stmt}, out);
    out.push_back(stmt);
    return note_alike({stmt});
  }

  bool repeat(const For& loop, const Stmt& stmt, Body& out) {
    const Body whole{stmt};
    if (calls_team(loop.body)) {
      For made = loop;
      made.body.clear();
      const bool is_plain = !calls_team(loop.init) && counted(loop, known_).has_value();
      if (!is_plain || !statements(loop.body, made.body)) return false;
      out.push_back({.node = std::move(made), .line = stmt.line});
      return true;
    }
    bool is_shared = false;
    for_each_expr_in(loop.body, [&](const Expr& expr) {
      const std::string* root = is_store(expr) ? root_of(expr.operands[0]) : nullptr;
      is_shared |= root != nullptr && shared_.contains(*root);
    });
    if (is_shared && Spread(shared_, known_).is_possible(loop)) {
      const auto range = *counted(loop, known_);
      barrier(out);
      out.push_back(over_lanes(range.name, make::number(range.first),
                               make::number(range.first + range.n), loop.body));
      barrier(out);
      return true;
    }
    if (is_shared) {
      bool keeps_to_itself = true;
      NameSet own;
      for_each_body(whole, [&](const Body& body) {
        for (const std::string& name : declared_names(body)) own.insert(name);
      });
      for_each_expr_in(whole, [&](const Expr& expr) {
        const std::string* root = is_store(expr) ? root_of(expr.operands[0]) : nullptr;
        const bool is_known = root != nullptr && (shared_.contains(*root) || own.contains(*root));
        const bool is_other = std::holds_alternative<Call>(expr.node) &&
                              !has_no_own_effect(expr, [](const Expr&) { return false; });
        keeps_to_itself &= (!is_store(expr) || is_known) && !is_other;
      });
      return keeps_to_itself && alone({stmt}, out);
    }
    bool is_alike = true;
    for_each_expr_in(whole, [&](const Expr& expr) {
      const bool is_call = std::holds_alternative<Call>(expr.node);
      is_alike &= !is_call || has_no_own_effect(expr, [](const Expr&) { return false; });
    });
    out.push_back(stmt);
    return is_alike && note_alike({stmt});
  }

  // ------------------------------------------------------------------------------------- phases

  static void barrier(Body& out) {
    Stmt made = make::evaluate(make::call(team_barrier, {}));
    if (out.empty() || out.back() != made) out.push_back(std::move(made));
  }

  /// Statements that one lane carries out; those that follow each other have one condition.
  bool alone(Body body, Body& out) {
    note_alike(body);
    Expr is_first = make::binary(BinaryOp::equal, make::name(lane_), make::number(0));
    if (out.size() >= 2) {
      auto* before = std::get_if<If>(&out[out.size() - 2].node);
      if (before != nullptr && before->condition == is_first && before->else_body.empty()) {
        for (Stmt& stmt : body) before->then_body.push_back(std::move(stmt));
        return true;
      }
    }
    barrier(out);
    out.push_back(
        {.node =
             If{.condition = std::move(is_first), .then_body = std::move(body), .else_body = {}},
         .line = 0});
    barrier(out);
    return true;
  }

  Stmt over_lanes(const std::string& name, Expr first, Expr end, Body body) const {
    const Type type = scalar(Base::int32);
    return {
        .node = For{.init = {make::declare(
                        name, type, make::sum(BinaryOp::add, make::name(lane_), std::move(first)))},
                    .condition = make::binary(BinaryOp::less, make::name(name), std::move(end)),
                    .step = make::of(Assign{BinaryOp::add},
                                     {make::name(name), make::name(n_lanes_)}, 0),
                    .body = std::move(body)},
        .line = 0};
  }

  Expr call(const Expr& expr, Body& out) {
    const TeamFunction& team = *team_function(expr);
    barrier(out);
    called_.insert(team.function.name);
    n_workspace_ = std::max(n_workspace_, team.n_shared);
    most_lanes_ = std::max(most_lanes_, team.n_lanes);
    for (const Parameter& parameter : team.function.parameters) {
      if (parameter.type.is_pointer()) has_one_base_ &= has_base(parameter.type.base);
    }
    std::vector<Expr> arguments = expr.operands;
    arguments.push_back(make::name(lane_));
    arguments.push_back(make::name(n_lanes_));
    arguments.push_back(make::call(workspace, {}));
    return make::call(team_name(team.function.name), std::move(arguments));
  }

  bool has_base(Base base) {
    if (!base_) base_ = base;
    return *base_ == base;
  }

  [[nodiscard]] Expr in_memory(std::int64_t at) const {
    return make::sum(BinaryOp::add, make::name(memory_), make::number(at));
  }

  /// Counts operations repeated by all lanes, or made by one lane while the others wait.
  bool note_alike(const Body& body) {
    FunctionDef alike{.name = "alike", .result = {}, .parameters = {}, .body = body};
    KernelBody counted{.tables = {}, .functions = {std::move(alike)}};
    n_alike_ += n_operations(counted);
    return true;
  }

  [[nodiscard]] bool is_worth_it() const {
    return has_one_base_ && most_lanes_ * n_alike_ <= 2 * n_operations(kernel_);
  }

  static std::string team_name(const std::string& name) { return name + "_team"; }

  TeamForm made(FunctionDef entry, Body out) {
    for_each_expr_in(out, [this](Expr& expr) {
      const auto* call = std::get_if<Call>(&expr.node);
      if (call != nullptr && call->function == workspace) expr = in_memory(n_placed_);
    });
    KernelBody body{.tables = kernel_.tables, .functions = {}, .structures = kernel_.structures};
    NameSet used;
    for_each_expr_in(out, [&used](const Expr& expr) {
      if (const auto* call = std::get_if<Call>(&expr.node)) used.insert(call->function);
    });
    for (const FunctionDef& function : kernel_.functions) {
      if (function.name != entry.name && used.contains(function.name))
        body.functions.push_back(function);
    }
    std::int64_t n_own = 0;
    for (const TeamFunction& team : kernel_.team_functions) {
      if (!called_.contains(team.function.name)) continue;
      FunctionDef function = team.function;
      function.name = team_name(function.name);
      n_own = std::max(n_own, kept_in_registers(function));
      for (Parameter& parameter : function.parameters) {
        parameter.type.is_shared = parameter.type.is_pointer();
      }
      body.functions.push_back(std::move(function));
    }
    std::set<int> of_team;
    for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
      if (handed_.contains(entry.parameters[i].name)) of_team.insert(static_cast<int>(i));
    }
    Type memory = pointer_to(scalar(*base_));
    memory.is_shared = true;
    entry.body = std::move(out);
    entry.parameters.push_back({.name = lane_, .type = scalar(Base::int32)});
    entry.parameters.push_back({.name = n_lanes_, .type = scalar(Base::int32)});
    entry.parameters.push_back({.name = memory_, .type = memory});
    body.functions.push_back(std::move(entry));
    return {.body = infer_types(spelled(std::move(body))),
            .n_lanes = most_lanes_,
            .n_shared = n_placed_ + n_workspace_,
            .n_own = n_own,
            .base = *base_,
            .shared_parameters = std::move(of_team)};
  }

  static constexpr const char* workspace = "op2_workspace";

  const KernelBody& kernel_;
  FreshNames& names_;
  Integers known_;
  std::string lane_;
  std::string n_lanes_;
  std::string memory_;
  NameSet shared_;
  NameSet handed_;  // to functions of teams
  NameSet called_;
  std::optional<Base> base_;
  bool has_one_base_ = true;
  std::int64_t n_placed_ = 0;
  std::int64_t n_workspace_ = 0;
  std::int64_t n_alike_ = 0;
  int most_lanes_ = 0;
};

bool is_called_by_others(const KernelBody& body) {
  return std::ranges::any_of(body.functions, [&body](const FunctionDef& function) {
    bool found = false;
    for_each_expr_in(function.body, [&](const Expr& expr) {
      const auto* call = std::get_if<Call>(&expr.node);
      found |= call != nullptr && std::ranges::any_of(body.team_functions, [&](const auto& team) {
                 return team.function.name == call->function;
               });
    });
    return found && &function != &body.functions.back();
  });
}

}  // namespace

std::optional<TeamForm> team_form_of_calls(const KernelBody& body) {
  if (body.team_functions.empty() || is_called_by_others(body)) return {};
  const KernelBody named = with_unique_names(body);
  FreshNames names(named);
  return TeamCalls(named, names).run();
}

}  // namespace op2::kernel
