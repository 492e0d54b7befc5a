// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/overload.hpp"
#include "kir/nodes.hpp"

namespace op2::kir {

/// The one place that knows what every node is made of. Passes visit the nodes that they care
/// about; a new node is added here, in the printer and in dump(), a new instruction in its table.

/// @brief What a name in a statement stands for.
enum class Mention : std::uint8_t {
  declared,  ///< a new variable
  used,      ///< a variable that is read, written, or handed on
  origin,    ///< the table that listed entries were read from: nothing of it is read here
  told,      ///< a variable that something is said of, here and for those inside
};

namespace detail {

/// @p Target with the constness of @p Source.
template <class Source, class Target>
using like_t = std::conditional_t<std::is_const_v<Source>, const Target, Target>;

template <class AnyRows, class Parts>
void parts_of_rows(AnyRows& rows, const Parts& parts) {
  parts.name(rows.data, Mention::used);
  std::visit(overload{
                 [&parts](like_t<AnyRows, OwnRow>& own) { parts.expr(own.element); },
                 [&parts](like_t<AnyRows, MapRows>& through) {
                   parts.name(through.map, Mention::used);
                   parts.expr(through.element);
                 },
                 [&parts](like_t<AnyRows, ListedRows>& listed) {
                   if (listed.origin) parts.name(*listed.origin, Mention::origin);
                   for (auto& entry : listed.entries) parts.expr(entry);
                   if (listed.any_entry) parts.expr(*listed.any_entry);
                 },
             },
             rows.which);
  if (auto* apart = std::get_if<Apart>(&rows.layout)) parts.name(apart->stride, Mention::used);
}

template <class AnyEntries, class Parts>
void parts_of_entries(AnyEntries& entries, const Parts& parts) {
  parts.name(entries.data, Mention::used);
  parts.name(entries.row_map, entries.rows.empty() ? Mention::used : Mention::origin);
  parts.name(entries.row_start, Mention::used);
  parts.name(entries.position, Mention::used);
  parts.expr(entries.element);
  for (auto& row : entries.rows) parts.expr(row);
  for (auto* one : {&entries.n_rows, &entries.n_columns, &entries.begin}) {
    if (*one) parts.expr(**one);
  }
}

}  // namespace detail

/// @brief The operands of @p expr, const if it is.
template <class AnyExpr>
[[nodiscard]] auto operands_of(AnyExpr& expr) {
  using List = std::span<detail::like_t<AnyExpr, Expr>>;
  return std::visit(
      [](auto& node) -> List {
        if constexpr (requires { node.operands; }) {
          return node.operands;
        } else if constexpr (requires { node.subscript; }) {
          return node.subscript;
        } else if constexpr (requires { node.bytes; }) {
          return node.bytes;
        } else if constexpr (requires { node.items; }) {
          return node.items;
        } else {
          return {};
        }
      },
      expr.node);
}

/// @brief The variable that @p expr itself names, not its operands; null if there is none.
template <class AnyExpr>
[[nodiscard]] auto variable_of(AnyExpr& expr) {
  using Text = detail::like_t<AnyExpr, std::string>;
  return std::visit(
      [](auto& node) -> Text* {
        if constexpr (requires { node.array; }) {
          return &node.array;
        } else if constexpr (requires { node.name; }) {
          return &node.name;
        } else {
          return nullptr;
        }
      },
      expr.node);
}

/// @brief Call @p visit on @p expr and then on its operands, which @p visit may have changed.
template <class AnyExpr, class Visit>
void for_each_expr(AnyExpr& expr, const Visit& visit) {
  visit(expr);
  for (auto& operand : operands_of(expr)) for_each_expr(operand, visit);
}

/// @brief What of names, whole expressions and blocks @p stmt is made of, in the order of its text:
/// `parts.name(std::string&, Mention)`, `parts.expr(Expr&)`, `parts.block(Block&)`.
template <class AnyStmt, class Parts>
void parts_of(AnyStmt& stmt, const Parts& parts) {
  using S = AnyStmt;
  using detail::like_t;
  const auto used = [&parts](auto&... names) { (parts.name(names, Mention::used), ...); };
  const auto all = [&parts](auto& expressions) {
    for (auto& expr : expressions) parts.expr(expr);
  };
  std::visit(overload{
                 [&](like_t<S, Decl>& decl) {
                   if (decl.value) parts.expr(*decl.value);
                   parts.name(decl.name, Mention::declared);
                 },
                 [&](like_t<S, Assign>& assign) {
                   parts.expr(assign.target);
                   parts.expr(assign.value);
                 },
                 [&](like_t<S, Copy>& copy) {
                   parts.expr(copy.target);
                   parts.expr(copy.value);
                 },
                 [&](like_t<S, Atomic>& atomic) {
                   parts.expr(atomic.target);
                   parts.expr(atomic.value);
                 },
                 [&](like_t<S, CallUser>& call) { all(call.arguments); },
                 [&](like_t<S, Call>& call) { all(call.arguments); },
                 [&](like_t<S, For>& loop) {
                   parts.expr(loop.begin);
                   parts.expr(loop.end);
                   if (auto& columns = loop.columns) {
                     parts.expr(columns->n_cells);
                     parts.expr(columns->first_level);
                     for (auto* name : {&columns->row, &columns->level, &columns->element}) {
                       parts.name(*name, Mention::told);
                     }
                   }
                   if (!loop.step_name.empty()) used(loop.step_name);
                   parts.name(loop.index, Mention::declared);
                   parts.block(loop.body);
                 },
                 [&](like_t<S, If>& branch) {
                   parts.expr(branch.condition);
                   parts.block(branch.then);
                 },
                 [&](like_t<S, Region>& region) { parts.block(region.body); },
                 [](like_t<S, Barrier>&) {},
                 [&](like_t<S, Intrinsic>& intrinsic) { all(intrinsic.operands); },
                 [&](like_t<S, Launch>& launch) {
                   parts.expr(launch.items);
                   all(launch.arguments);
                 },
                 [&](like_t<S, Scratch>& scratch) {
                   parts.expr(scratch.extent);
                   parts.name(scratch.name, Mention::declared);
                 },
                 [&](like_t<S, Gather>& gather) {
                   used(gather.pack);
                   detail::parts_of_rows(gather.rows, parts);
                 },
                 [&](like_t<S, Scatter>& scatter) {
                   used(scatter.pack);
                   detail::parts_of_rows(scatter.rows, parts);
                 },
                 [&](like_t<S, MatInsert>& insert) {
                   used(insert.pack);
                   detail::parts_of_entries(insert.entries, parts);
                 },
             },
             stmt.node);
}

namespace detail {

struct Ignore {
  template <class... Parts>
  void operator()(Parts&&... /*parts*/) const {}
};

/// Three callables as the parts that a walk is told of.
template <class OnName, class OnExpr, class OnBlock>
struct Parts {
  OnName name;
  OnExpr expr;
  OnBlock block;
};
template <class OnName, class OnExpr, class OnBlock>
Parts(OnName, OnExpr, OnBlock) -> Parts<OnName, OnExpr, OnBlock>;

}  // namespace detail

/// @brief The block inside @p stmt, which every kind has at most one of; null if there is none.
template <class AnyStmt>
[[nodiscard]] auto block_of(AnyStmt& stmt) {
  detail::like_t<AnyStmt, Block>* found = nullptr;
  parts_of(stmt, detail::Parts{detail::Ignore{}, detail::Ignore{},
                               [&found](auto& block) { found = &block; }});
  return found;
}

/// @brief Call @p visit on every statement of @p block, outer ones first, and then on those inside,
/// which @p visit may have changed.
template <class AnyBlock, class Visit>
void for_each_stmt(AnyBlock& block, const Visit& visit) {
  for (auto& stmt : block) {
    visit(stmt);
    if (auto* inner = block_of(stmt)) for_each_stmt(*inner, visit);
  }
}

/// @brief Call @p visit on every expression in @p block and on all their operands, outside in.
template <class AnyBlock, class Visit>
void for_each_expr_in(AnyBlock& block, const Visit& visit) {
  for_each_stmt(block, [&visit](auto& stmt) {
    parts_of(stmt,
             detail::Parts{detail::Ignore{}, [&visit](auto& expr) { for_each_expr(expr, visit); },
                           detail::Ignore{}});
  });
}

/// @brief Call @p visit(name, mention) on every name of a variable in @p block.
template <class AnyBlock, class Visit>
void for_each_name_in(AnyBlock& block, const Visit& visit) {
  const auto in_expr = [&visit](auto& expr) {
    for_each_expr(expr, [&visit](auto& part) {
      if (auto* name = variable_of(part)) visit(*name, Mention::used);
    });
  };
  for_each_stmt(block, [&](auto& stmt) {
    parts_of(stmt, detail::Parts{[&visit](auto& name, Mention mention) { visit(name, mention); },
                                 in_expr, detail::Ignore{}});
  });
}

/// @brief True if @p holds is of any statement of @p block, inner ones included.
template <class Holds>
[[nodiscard]] bool any_stmt(const Block& block, const Holds& holds) {
  bool found = false;
  for_each_stmt(block, [&](const Stmt& stmt) { found = found || holds(stmt); });
  return found;
}

/// @brief True if @p holds is of @p expr or any of its operands.
template <class Holds>
[[nodiscard]] bool any_expr(const Expr& expr, const Holds& holds) {
  bool found = false;
  for_each_expr(expr, [&](const Expr& part) { found = found || holds(part); });
  return found;
}

/// @brief What stands for an expression; nothing if it stays, and its operands are looked at.
using Replacement = std::function<std::optional<Expr>(const Expr&)>;

/// @brief @p expr with every part replaced that @p by has something for, outer parts first. What
/// was put in is not looked at again; arithmetic folds where numbers came in.
[[nodiscard]] Expr map_expr(const Expr& expr, const Replacement& by);

/// @brief The same for all expressions of all statements. Names that statements hold themselves
/// stay as they are.
[[nodiscard]] Block map_exprs(Block block, const Replacement& by);

/// @brief @p block with every statement replaced by what @p make returns for it, inner ones first.
/// @param[in] make `Block make(Stmt)`.
template <class Make>
[[nodiscard]] Block map_stmts(Block block, const Make& make) {
  Block out;
  out.reserve(block.size());
  for (Stmt& stmt : block) {
    if (Block* inner = block_of(stmt)) *inner = map_stmts(std::move(*inner), make);
    for (Stmt& made : make(std::move(stmt))) out.push_back(std::move(made));
  }
  return out;
}

/// @brief Every variable that @p block uses; those it only declares are not among them.
[[nodiscard]] std::set<std::string> names_used(const Block& block);

/// @brief Call the variable @p from @p to, wherever @p block mentions it.
void rename(Block& block, const std::string& from, const std::string& to);

}  // namespace op2::kir
