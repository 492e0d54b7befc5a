// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "kir/walk.hpp"
#include "lower/make.hpp"
#include "lower/matrix.hpp"
#include "lower/passes.hpp"
#include "lower/rows.hpp"

namespace op2::lower {
namespace {

/// How the rows of a packed argument are reached. Behind a pointer to each row GCC keeps them in
/// registers best (10 % on a loop that scatters); behind an offset it can still vectorise a loop
/// that only gathers (1.5x on airfoil's adt_calc). docs/notebook
enum class RowForm : std::uint8_t { pointer, offset };

/// `if (value < target) target = value`: the comparison that std::min makes, so a NaN in the
/// value never enters and one in the target stays.
kir::Stmt extremum(kir::Assign assign) {
  const bool is_min = assign.update == kir::Update::min;
  kir::Expr better =
      is_min ? kir::less(assign.value, assign.target) : kir::less(assign.target, assign.value);
  assign.update = kir::Update::set;
  return {kir::If{std::move(better), {{std::move(assign)}}}};
}

kir::Stmt expand_assign(kir::Assign assign) {
  if (assign.update == kir::Update::min || assign.update == kir::Update::max) {
    return extremum(std::move(assign));
  }
  return {std::move(assign)};
}

kir::Stmt expand_copy(kir::Copy copy) {
  return for_components(
      copy.n, {expand_assign({std::move(copy.target), copy.update, std::move(copy.value)})});
}

/// Declares where a row starts, and says where its scalars are.
class Row {
 public:
  Row(const kir::Rows& rows, RowForm form, bool is_const, std::string name, const kir::Expr& i)
      : rows_(rows), form_(form), name_(std::move(name)) {
    const kir::Expr start = row_start(rows, i);
    const bool is_pointer = form == RowForm::pointer;
    const kir::VariableType type =
        is_pointer ? kir::VariableType{kir::memory_dtype(rows), is_const, true} : index_type();
    declaration_ = {
        kir::Decl{type, name_, 0, {is_pointer ? kir::offset(rows.data, start) : start}}};
  }

  [[nodiscard]] const kir::Stmt& declaration() const { return declaration_; }
  [[nodiscard]] kir::Expr scalar(const kir::Expr& c) const {
    const kir::Expr at = component_of(rows_, c);
    return form_ == RowForm::pointer ? kir::element(name_, at)
                                     : kir::element(rows_.data, kir::name(name_) + at);
  }

 private:
  const kir::Rows& rows_;
  RowForm form_;
  std::string name_;
  kir::Stmt declaration_;
};

/// What the pointers or offsets to the rows of one pack are called, and may be used for.
struct RowNames {
  RowForm form;
  bool is_const;
  std::string prefix;
  int unrolled_scalars;
};

/// Statements for all scalars of the rows, `make(target or source, pack position)`: one by one
/// behind the start of each row, or in two loops. GCC does not unroll a nest of two short loops
/// around private arrays, which costs airfoil's edge loop 13 % (docs/notebook).
template <class Make>
kir::Block over_rows(const kir::Rows& rows, const RowNames& names, const Make& make) {
  const bool is_long = rows.arity * rows.dim > names.unrolled_scalars;
  if (const auto n = n_rows(rows)) {
    const kir::Expr i = kir::name("i");
    const Row row(rows, names.form, names.is_const, names.prefix, i);
    const kir::Expr c = kir::name("c");
    kir::Block body{
        row.declaration(),
        for_components(rows.dim, {make(row.scalar(c), i * kir::integer(rows.dim) + c)})};
    const std::string count = names.prefix + "_n";
    return {index_decl(count, *n),
            {kir::For{kir::Axis::serial, "i", kir::integer(0), kir::name(count), std::move(body)}}};
  }
  if (is_long && listed_of(rows) == nullptr) {
    const kir::Expr i = kir::name("i");
    const kir::Expr c = kir::name("c");
    const Row row(rows, names.form, names.is_const, names.prefix, i);
    kir::Stmt components =
        for_components(rows.dim, {make(row.scalar(c), i * kir::integer(rows.dim) + c)});
    return {serial("i", rows.arity, {row.declaration(), std::move(components)})};
  }
  kir::Block block;
  for (int i = 0; i < rows.arity; ++i) {
    const Row row(rows, names.form, names.is_const, fmt::format("{}{}", names.prefix, i),
                  kir::integer(i));
    if (rows.dim > 0) block.push_back(row.declaration());
    if (is_long && rows.dim > 1) {
      const kir::Expr c = kir::name("c");
      block.push_back(
          for_components(rows.dim, {make(row.scalar(c), kir::integer(i * rows.dim) + c)}));
      continue;
    }
    for (int c = 0; c < rows.dim; ++c) {
      block.push_back(make(row.scalar(kir::integer(c)), kir::integer(i * rows.dim + c)));
    }
  }
  return block;
}

kir::Block expand_gather(const kir::Gather& gather, RowForm form, const Tuning& tuning) {
  const auto load = [&gather](const kir::Expr& source, const kir::Expr& at) -> kir::Stmt {
    return {kir::Assign{kir::element(gather.pack, at), kir::Update::set, source}};
  };
  return over_rows(gather.rows, {form, true, gather.pack + "_from", tuning.unrolled_scalars}, load);
}

kir::Block expand_scatter(const kir::Scatter& scatter, const Tuning& tuning) {
  const auto store = [&scatter](const kir::Expr& target, const kir::Expr& at) -> kir::Stmt {
    const kir::Expr value = kir::element(scatter.pack, at);
    if (scatter.sync == kir::Sync::atomic) {
      return {kir::Atomic{kir::memory_dtype(scatter.rows), target, scatter.update, value}};
    }
    return expand_assign({target, scatter.update, value});
  };
  // a pointer would have to say which memory it reaches
  const RowForm form = scatter.rows.is_shared ? RowForm::offset : RowForm::pointer;
  return over_rows(scatter.rows, {form, false, scatter.pack + "_to", tuning.unrolled_scalars},
                   store);
}

/// A loop that makes one step is its body; what that declares gets a name that is not visible yet.
class SingleSteps {
 public:
  using Visible = std::set<std::string>;

  [[nodiscard]] static kir::Block removed(kir::Block block, Visible visible) {
    kir::Block out;
    out.reserve(block.size());
    for (kir::Stmt& stmt : block) add(std::move(stmt), out, visible);
    return out;
  }

 private:
  static void add(kir::Stmt stmt, kir::Block& out, Visible& visible) {
    if (auto* loop = std::get_if<kir::For>(&stmt.node); loop != nullptr && steps_once(*loop)) {
      for (kir::Stmt& inner : step_of(*loop, visible)) {
        if (!stmt.comment.empty()) inner.comment = std::exchange(stmt.comment, {});
        add(std::move(inner), out, visible);
      }
      return;
    }
    if (const auto* decl = std::get_if<kir::Decl>(&stmt.node)) visible.insert(decl->name);
    if (kir::Block* inner = kir::block_of(stmt)) *inner = removed(std::move(*inner), visible);
    out.push_back(std::move(stmt));
  }

  static bool steps_once(const kir::For& loop) {
    const auto* begin = std::get_if<kir::Integer>(&loop.begin.node);
    const auto* end = std::get_if<kir::Integer>(&loop.end.node);
    return loop.axis == kir::Axis::serial && begin != nullptr && end != nullptr &&
           end->value - begin->value == 1;
  }

  static kir::Block step_of(kir::For& loop, const Visible& visible) {
    kir::Block body = kir::map_exprs(std::move(loop.body),
                                     [&loop](const kir::Expr& expr) -> std::optional<kir::Expr> {
                                       if (expr == kir::name(loop.index)) return loop.begin;
                                       return std::nullopt;
                                     });
    Visible taken = visible;
    for (const kir::Stmt& stmt : kir::Block(body)) {
      const auto* decl = std::get_if<kir::Decl>(&stmt.node);
      if (decl == nullptr || taken.insert(decl->name).second) continue;
      int number = 2;
      while (!taken.insert(fmt::format("{}{}", decl->name, number)).second) ++number;
      kir::rename(body, decl->name, fmt::format("{}{}", decl->name, number));
    }
    return body;
  }
};

bool scatters(const kir::Block& block) {
  return kir::any_stmt(block, [](const kir::Stmt& stmt) {
    return std::holds_alternative<kir::Scatter>(stmt.node) ||
           std::holds_alternative<kir::MatInsert>(stmt.node);
  });
}

}  // namespace

kir::Block expand(kir::Block block, const Tuning& tuning) {
  const RowForm form = scatters(block) ? RowForm::pointer : RowForm::offset;
  const auto expanded = [form, &tuning](kir::Stmt stmt) -> kir::Block {
    std::string& comment = stmt.comment;
    if (auto* assign = std::get_if<kir::Assign>(&stmt.node))
      return commented(std::move(comment), {expand_assign(std::move(*assign))});
    if (auto* copy = std::get_if<kir::Copy>(&stmt.node))
      return commented(std::move(comment), {expand_copy(std::move(*copy))});
    if (const auto* gather = std::get_if<kir::Gather>(&stmt.node))
      return commented(std::move(comment), expand_gather(*gather, form, tuning));
    if (const auto* scatter = std::get_if<kir::Scatter>(&stmt.node))
      return commented(std::move(comment), expand_scatter(*scatter, tuning));
    if (const auto* insert = std::get_if<kir::MatInsert>(&stmt.node))
      return commented(std::move(comment), expand_insert(*insert, tuning));
    return {std::move(stmt)};
  };
  return SingleSteps::removed(kir::map_stmts(std::move(block), expanded), {});
}

}  // namespace op2::lower
