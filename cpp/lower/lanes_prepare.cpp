// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_prepare.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/overload.hpp"
#include "kernel/plain.hpp"
#include "kernel/unique_names.hpp"

namespace op2::lower {
namespace {

using kernel::Body;
using kernel::Expr;
using kernel::FunctionDef;
using kernel::Stmt;

Expr name_of(const std::string& name, const kernel::Type& type) {
  return {kernel::Name{name}, {}, type};
}

Stmt evaluate(Expr value, int line) {
  return {kernel::Evaluate{std::move(value)}, line};
}

/// Call @p visit on every list of statements in @p body, inner ones first.
template <class Visit>
void for_each_body(Body& body, const Visit& visit) {
  for (Stmt& stmt : body) {
    std::visit(overload{[](kernel::Declare&) {}, [](kernel::Evaluate&) {},
                        [&visit](kernel::Block& node) { for_each_body(node.body, visit); },
                        [&visit](kernel::If& node) {
                          for_each_body(node.then_body, visit);
                          for_each_body(node.else_body, visit);
                        },
                        [&visit](kernel::For& node) { for_each_body(node.body, visit); },
                        [&visit](kernel::While& node) { for_each_body(node.body, visit); },
                        [&visit](kernel::Switch& node) {
                          for (kernel::Case& entry : node.cases) for_each_body(entry.body, visit);
                        },
                        [](kernel::Return&) {}, [](kernel::Break&) {}, [](kernel::Continue&) {}},
               stmt.node);
  }
  visit(body);
}

// --------------------------------------------------------------------------------------- switch

/// Leaves the switch or loop it stands in, other than through the end.
bool breaks(const Body& body) {
  return std::ranges::any_of(body, [](const Stmt& stmt) {
    return std::visit(
        overload{
            [](const kernel::Declare&) { return false; },
            [](const kernel::Evaluate&) { return false; },
            [](const kernel::Block& node) { return breaks(node.body); },
            [](const kernel::If& node) { return breaks(node.then_body) || breaks(node.else_body); },
            [](const kernel::For&) { return false; }, [](const kernel::While&) { return false; },
            [](const kernel::Switch&) { return false; },
            [](const kernel::Return&) { return false; }, [](const kernel::Break&) { return true; },
            [](const kernel::Continue&) { return false; }},
        stmt.node);
  });
}

bool ends_with_break(const Body& body) {
  return !body.empty() && std::holds_alternative<kernel::Break>(body.back().node);
}

bool ends_with_return(const Body& body) {
  return !body.empty() && std::holds_alternative<kernel::Return>(body.back().node);
}

/// Cases that share a body, which does not run on into the next.
struct Arm {
  std::vector<Expr> labels;
  bool is_default = false;
  Body body;
};

std::optional<std::vector<Arm>> arms_of(const kernel::Switch& node) {
  std::vector<Arm> arms(1);
  for (const kernel::Case& entry : node.cases) {
    Arm& arm = arms.back();
    if (entry.label) arm.labels.push_back(*entry.label);
    arm.is_default |= !entry.label;
    const bool is_last = &entry == &node.cases.back();
    if (entry.body.empty() && !is_last) continue;
    arm.body = entry.body;
    const bool leaves = ends_with_break(arm.body);
    if (leaves) arm.body.pop_back();
    if (breaks(arm.body)) return std::nullopt;
    if (!leaves && !ends_with_return(arm.body) && !is_last) return std::nullopt;
    if (!is_last) arms.emplace_back();
  }
  return arms;
}

Expr logical(kernel::BinaryOp op, Expr left, Expr right) {
  return {
      kernel::Binary{op}, {std::move(left), std::move(right)}, kernel::scalar(kernel::Base::int32)};
}

/// `if (value == label || ...) ... else if ...`; the value is read once.
std::optional<Body> as_branches(const kernel::Switch& node, const std::string& name, int line) {
  const auto arms = arms_of(node);
  if (!arms || node.cases.empty()) return std::nullopt;
  kernel::Type type = node.value.type;
  type.is_const = true;
  Body rest;
  for (const Arm& arm : *arms) {
    if (arm.is_default) rest = arm.body;
  }
  for (std::size_t i = arms->size(); i-- > 0;) {
    const Arm& arm = (*arms)[i];
    if (arm.is_default) continue;
    std::optional<Expr> condition;
    for (const Expr& label : arm.labels) {
      Expr equal = logical(kernel::BinaryOp::equal, name_of(name, type), label);
      condition = condition ? logical(kernel::BinaryOp::logical_or, *condition, std::move(equal))
                            : std::move(equal);
    }
    rest = {{kernel::If{std::move(*condition), arm.body, std::move(rest)}, line}};
  }
  Body out{
      {kernel::Declare{.is_static = false, .variables = {{name, type, node.value, line}}}, line}};
  out.push_back({kernel::Block{std::move(rest)}, line});
  return out;
}

void replace_switches(FunctionDef& function) {
  int n_switches = 0;
  for_each_body(function.body, [&n_switches](Body& body) {
    Body out;
    for (Stmt& stmt : body) {
      const auto* node = std::get_if<kernel::Switch>(&stmt.node);
      const auto branches =
          node != nullptr ? as_branches(*node, "op2_case" + std::to_string(++n_switches), stmt.line)
                          : std::nullopt;
      if (branches) {
        out.push_back({kernel::Block{*branches}, stmt.line});
      } else {
        out.push_back(std::move(stmt));
      }
    }
    body = std::move(out);
  });
}

// --------------------------------------------------------------------------------------- return

bool returns_somewhere(const Body& body) {
  return std::ranges::any_of(body, [](const Stmt& stmt) {
    return std::visit(
        overload{
            [](const kernel::Declare&) { return false; },
            [](const kernel::Evaluate&) { return false; },
            [](const kernel::Block& node) { return returns_somewhere(node.body); },
            [](const kernel::If& node) {
              return returns_somewhere(node.then_body) || returns_somewhere(node.else_body);
            },
            [](const kernel::For&) { return false; }, [](const kernel::While&) { return false; },
            [](const kernel::Switch&) { return false; }, [](const kernel::Return&) { return true; },
            [](const kernel::Break&) { return false; },
            [](const kernel::Continue&) { return false; }},
        stmt.node);
  });
}

bool always_returns(const Body& body) {
  return std::ranges::any_of(body, [](const Stmt& stmt) {
    if (const auto* block = std::get_if<kernel::Block>(&stmt.node))
      return always_returns(block->body);
    if (const auto* branch = std::get_if<kernel::If>(&stmt.node)) {
      return always_returns(branch->then_body) && always_returns(branch->else_body);
    }
    return std::holds_alternative<kernel::Return>(stmt.node);
  });
}

/// Moves what follows an If that may return into its branches, as often as needed.
Body with_returns_last(Body body, std::size_t most_copied) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (auto* block = std::get_if<kernel::Block>(&body[i].node)) {
      if (!returns_somewhere(block->body)) continue;
      Body merged(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(i));
      merged.insert(merged.end(), block->body.begin(), block->body.end());
      merged.insert(merged.end(), body.begin() + static_cast<std::ptrdiff_t>(i) + 1, body.end());
      return with_returns_last(std::move(merged), most_copied);
    }
    if (std::holds_alternative<kernel::Return>(body[i].node)) {
      body.resize(i + 1);
      return body;
    }
    auto* branch = std::get_if<kernel::If>(&body[i].node);
    if (branch == nullptr) continue;
    if (!returns_somewhere(branch->then_body) && !returns_somewhere(branch->else_body)) continue;
    const Body rest(body.begin() + static_cast<std::ptrdiff_t>(i) + 1, body.end());
    const bool runs_on_twice =
        !always_returns(branch->then_body) && !always_returns(branch->else_body);
    // Two copies of a declaration would be two variables of one name, which is C, but rare.
    if (runs_on_twice && rest.size() > most_copied) return body;
    for (Body* side : {&branch->then_body, &branch->else_body}) {
      side->insert(side->end(), rest.begin(), rest.end());
      *side = with_returns_last(std::move(*side), most_copied);
    }
    body.resize(i + 1);
    return body;
  }
  return body;
}

/// Replaces returns in last position of branches by assignments to @p result.
void assign_result(Body& body, const std::optional<Expr>& result) {
  if (body.empty()) return;
  Stmt& last = body.back();
  if (auto* branch = std::get_if<kernel::If>(&last.node)) {
    assign_result(branch->then_body, result);
    assign_result(branch->else_body, result);
    return;
  }
  auto* node = std::get_if<kernel::Return>(&last.node);
  if (node == nullptr) return;
  if (!result || !node->value) {
    body.pop_back();
    return;
  }
  Expr assign{kernel::Assign{}, {*result, *node->value}, result->type};
  last = evaluate(std::move(assign), last.line);
}

void return_at_end(FunctionDef& function, std::size_t most_copied) {
  Body before_last = function.body;
  if (ends_with_return(before_last)) before_last.pop_back();
  if (!returns_somewhere(before_last)) return;
  Body body = with_returns_last(function.body, most_copied);
  if (!body.empty() && ends_with_return(body)) {  // it was the first return, not in a branch
    function.body = std::move(body);
    return;
  }
  if (function.result.base == kernel::Base::none) {
    assign_result(body, std::nullopt);
    function.body = std::move(body);
    return;
  }
  const Expr result = name_of("op2_result", function.result);
  assign_result(body, result);
  Body out{{kernel::Declare{.is_static = false,
                            .variables = {{"op2_result", function.result, std::nullopt, 0}}}}};
  out.insert(out.end(), std::make_move_iterator(body.begin()), std::make_move_iterator(body.end()));
  out.push_back({kernel::Return{result}});
  function.body = std::move(out);
}

}  // namespace

kernel::KernelBody prepared_for_lanes(kernel::KernelBody body, const Tuning& tuning) {
  body = kernel::spelled(kernel::plain(std::move(body)));
  for (FunctionDef& function : body.functions) {
    replace_switches(function);
    return_at_end(function, static_cast<std::size_t>(tuning.copied_statements));
  }
  return body;
}

}  // namespace op2::lower
