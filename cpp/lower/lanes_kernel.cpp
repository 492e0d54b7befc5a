// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_kernel.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "base/overload.hpp"
#include "kernel/walk.hpp"
#include "lower/lanes_expressions.hpp"
#include "lower/lanes_prepare.hpp"
#include "lower/lanes_values.hpp"
#include "lower/lanes_varying.hpp"

namespace op2::lower {
namespace {

using kernel::Base;
using kernel::Body;
using kernel::Expr;
using kernel::Stmt;
using kernel::Type;
using kernel::UnaryOp;

constexpr const char* mask_name = "op2_mask";

bool is_zero(const Expr& expr) {
  const auto* node = std::get_if<kernel::Literal>(&expr.node);
  return node != nullptr && (node->spelling == "0" || node->spelling == "0.0");
}

/// What the functions of one kernel share.
struct Shared {
  LaneInstances& instances;
  LaneValues values;
  int masked_expressions;
  std::map<const LaneInstance*, std::string> names;
  std::set<std::string, std::less<>> taken;
  kernel::KernelBody out;
};

void retype_function(Shared& shared, const LaneInstance& instance);

/// Name of the retyped function, which is made on the first request.
std::string instance_name(Shared& shared, const LaneInstance& instance) {
  const auto known = shared.names.find(&instance);
  if (known != shared.names.end()) return known->second;
  std::string wanted = instance.function->name;
  for (int suffix = 2; shared.taken.contains(wanted); ++suffix) {
    wanted = fmt::format("{}_{}", instance.function->name, suffix);
  }
  shared.taken.insert(wanted);
  shared.names[&instance] = wanted;
  retype_function(shared, instance);
  return wanted;
}

/// The statements of one function.
class Retyper {
 public:
  Retyper(Shared& shared, const LaneInstance& in)
      : in_(in),
        values_(shared.values),
        masked_expressions_(shared.masked_expressions),
        expressions_(
            shared.instances, in, shared.values,
            [&shared](const LaneInstance& instance) { return instance_name(shared, instance); },
            in.masked ? std::optional(typed::name(mask_name, mask_type())) : std::nullopt) {}

  kernel::FunctionDef run() {
    kernel::FunctionDef out;
    out.name = in_.function->name;
    out.result =
        in_.result_varies ? values_.vector(in_.function->result.base) : in_.function->result;
    if (in_.masked) out.parameters.push_back({mask_name, mask_type()});
    for (const kernel::Parameter& parameter : in_.function->parameters) {
      out.parameters.push_back(
          {parameter.name, expressions_.retyped(parameter.type, parameter.name)});
    }
    out.body = body(in_.function->body);
    return out;
  }

 private:
  [[nodiscard]] Type mask_type() const { return values_.vector(values_.mask()); }

  Body body(const Body& statements) {
    Body outer = std::exchange(out_, {});
    for (const Stmt& stmt : statements) statement(stmt);
    return std::exchange(out_, std::move(outer));
  }

  void emit(kernel::StmtNode node, int line) { out_.push_back({std::move(node), line}); }

  void statement(const Stmt& stmt) {
    at_line(stmt.line, [this, &stmt] { retype(stmt); });
  }

  void retype(const Stmt& stmt) {
    const int line = stmt.line;
    std::visit(
        overload{
            [this, line](const kernel::Declare& node) { emit(declare(node), line); },
            [this, line](const kernel::Evaluate& node) {
              emit(kernel::Evaluate{expressions_.effect(node.value)}, line);
            },
            [this, line](const kernel::Block& node) { emit(kernel::Block{body(node.body)}, line); },
            [this, line](const kernel::If& node) { branch(node, line); },
            [this, line](const kernel::For& node) {
              kernel::For out;
              out.init = body(node.init);
              if (node.condition) out.condition = expressions_.value(*node.condition);
              if (node.step) out.step = expressions_.effect(*node.step);
              out.body = body(node.body);
              emit(std::move(out), line);
            },
            [this, line](const kernel::While& node) {
              emit(kernel::While{expressions_.value(node.condition), body(node.body), node.is_do},
                   line);
            },
            [this, line](const kernel::Switch& node) {
              kernel::Switch out{expressions_.value(node.value), {}};
              for (const kernel::Case& entry : node.cases) {
                out.cases.push_back({entry.label, body(entry.body)});
              }
              emit(std::move(out), line);
            },
            [this, line](const kernel::Return& node) { emit(give(node), line); },
            [this, line](const kernel::Break& node) { emit(node, line); },
            [this, line](const kernel::Continue& node) { emit(node, line); },
        },
        stmt.node);
  }

  kernel::Return give(const kernel::Return& node) {
    kernel::Return out;
    if (node.value) {
      out.value = in_.result_varies
                      ? expressions_.value_on_lanes(in_.function->result.base, *node.value)
                      : expressions_.value(*node.value);
    }
    return out;
  }

  kernel::Declare declare(const kernel::Declare& node) {
    kernel::Declare out{node.is_static, {}};
    for (const kernel::Variable& variable : node.variables) {
      kernel::Variable made{variable.name, expressions_.retyped(variable.type, variable.name),
                            std::nullopt, variable.line};
      const bool on_lanes = made.type.lanes > 0 && !made.type.is_pointer();
      if (variable.value) {
        made.value = on_lanes ? initial(*variable.value, variable.type.base)
                              : initial_of_scalars(*variable.value);
      } else if (on_lanes && in_.merged.contains(variable.name)) {
        // Its first assignment blends with what it holds.
        made.type.is_const = false;
        made.value = zeros(variable.type.base);
      }
      out.variables.push_back(std::move(made));
    }
    return out;
  }

  [[nodiscard]] Expr zeros(Base base) const {
    return {kernel::InitList{}, {typed::literal("0", Base::int32)}, values_.vector(base)};
  }

  Expr initial_of_scalars(const Expr& expr) {
    if (!std::holds_alternative<kernel::InitList>(expr.node)) return expressions_.value(expr);
    Expr out = expr;
    for (Expr& item : out.operands) item = initial_of_scalars(item);
    return out;
  }

  Expr initial(const Expr& expr, Base base) {
    if (!std::holds_alternative<kernel::InitList>(expr.node)) {
      return expressions_.value_on_lanes(base, expr);
    }
    if (expr.operands.size() == 1 && is_zero(expr.operands[0])) return zeros(base);
    Expr out{kernel::InitList{}, {}, {}};
    for (const Expr& item : expr.operands) out.operands.push_back(initial(item, base));
    return out;
  }

  void branch(const kernel::If& node, int line) {
    if (!expressions_.varies(node.condition)) {
      Expr condition = expressions_.value(node.condition);
      Body then_body = body(node.then_body);
      emit(kernel::If{std::move(condition), std::move(then_body), body(node.else_body)}, line);
      return;
    }
    const Expr on = keep_mask(expressions_.masked(expressions_.mask(node.condition)), line);
    std::optional<Expr> off;
    if (!node.else_body.empty()) {
      off = keep_mask(expressions_.masked(typed::unary(UnaryOp::bit_not, on)), line);
    }
    under(on, node.then_body, line);
    if (off) under(*off, node.else_body, line);
  }

  Expr keep_mask(Expr condition, int line) {
    Type type = mask_type();
    type.is_const = true;
    const std::string variable = fmt::format("{}{}", mask_name, ++n_masks_);
    emit(kernel::Declare{.is_static = false,
                         .variables = {{variable, type, std::move(condition), 0}}},
         line);
    return typed::name(variable, mask_type());
  }

  void under(const Expr& on, const Body& statements, int line) {
    Body made = expressions_.under(on, [&] { return body(statements); });
    if (made.empty()) return;
    if (is_worth_a_test(statements)) {
      Expr any =
          values_.call(kernel::LaneOp::any, values_.mask(), {on}, kernel::scalar(Base::int32));
      emit(kernel::If{std::move(any), std::move(made), {}}, line);
    } else {
      emit(kernel::Block{std::move(made)}, line);
    }
  }

  /// Skipping the statements where no lane wants them pays, or avoids what only they may do.
  [[nodiscard]] bool is_worth_a_test(const Body& statements) const {
    const int few = masked_expressions_;
    int n_expressions = 0;
    bool has_loop = false;
    for (const Stmt& stmt : statements) {
      has_loop |= std::holds_alternative<kernel::For>(stmt.node) ||
                  std::holds_alternative<kernel::While>(stmt.node);
    }
    kernel::for_each_expr_in(statements, [&n_expressions, few](const Expr& expr) {
      ++n_expressions;
      if (std::holds_alternative<kernel::Call>(expr.node)) n_expressions += few;
      if (std::holds_alternative<kernel::Index>(expr.node) &&
          !std::holds_alternative<kernel::Literal>(expr.operands[1].node)) {
        n_expressions += few;
      }
    });
    return has_loop || n_expressions > few;
  }

  const LaneInstance& in_;
  LaneValues values_;
  int masked_expressions_;
  LaneExpressions expressions_;
  Body out_;
  int n_masks_ = 0;
};

void retype_function(Shared& shared, const LaneInstance& instance) {
  kernel::FunctionDef made = Retyper(shared, instance).run();
  made.name = shared.names.at(&instance);
  shared.out.functions.push_back(std::move(made));
}

/// Masks are as wide as the widest value, so that most blends need no conversion.
Base mask_of(const kernel::KernelBody& body) {
  bool is_wide = false;
  const auto look = [&is_wide](const Type& type) {
    const auto dtype = kernel::dtype_of(type.base);
    is_wide |= dtype && size_of(*dtype) > 4;
  };
  for (const kernel::FunctionDef& function : body.functions) {
    for (const kernel::Parameter& parameter : function.parameters) look(parameter.type);
    kernel::for_each_expr_in(function.body, [&look](const Expr& expr) { look(expr.type); });
  }
  return is_wide ? Base::int64 : Base::int32;
}

}  // namespace

KernelOnLanes kernel_on_lanes(const kernel::KernelBody& body, const std::vector<bool>& varies,
                              int lanes, const Tuning& tuning) {
  try {
    const kernel::KernelBody prepared = prepared_for_lanes(body, tuning);
    LaneInstances instances(prepared);
    const LaneInstance& entry = instances.of(prepared.entry().name, varies, false);
    if (entry.varying_parameters != varies) {
      throw Refusal{"it writes behind an argument that is the same for all elements"};
    }
    Shared shared{
        instances, LaneValues(lanes, mask_of(prepared)), tuning.masked_expressions, {}, {}, {}};
    for (const kernel::Variable& table : prepared.tables) shared.taken.insert(table.name);
    shared.out.tables = prepared.tables;
    (void)instance_name(shared, entry);
    return {std::move(shared.out), ""};
  } catch (const Refusal& refusal) {
    return {std::nullopt, refusal.text()};
  }
}

}  // namespace op2::lower
