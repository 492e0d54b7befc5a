// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "base/overload.hpp"
#include "lower/matrix.hpp"
#include "lower/passes.hpp"

namespace op2::lower {
namespace {

// Rows of up to this many scalars become one statement a scalar: GCC does not unroll a nest of two
// short loops around private arrays, which costs airfoil's edge loop 13 % (docs/performance.md).
constexpr int unrolled_scalars = 64;

/// How the rows of a packed argument are reached. Behind a pointer to each row GCC keeps them in
/// registers best (10 % on a loop that scatters); behind an offset it can still vectorise a loop
/// that only gathers (1.5x on airfoil's adt_calc). docs/performance.md
enum class RowForm : std::uint8_t { pointer, offset };

kir::Expr row_offset(const kir::Rows& rows, const kir::Expr& i) {
  const int together = rows.stride == 0 ? rows.dim : rows.stride;
  const kir::Expr stride = kir::integer(rows.columns.empty() ? together : 1);
  const kir::Expr component = kir::integer(rows.columns.empty() ? rows.component : 0);
  if (!rows.entries.empty()) {
    const auto at = static_cast<std::size_t>(std::get<kir::Integer>(i.node).value);
    return rows.entries[at] * stride + component;
  }
  if (rows.map.empty()) return rows.element * stride + component;
  const kir::Expr entry = kir::element(rows.map, rows.element * kir::integer(rows.arity) + i);
  return kir::widen(entry) * stride + component;
}

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

/// Declares where a row starts, and says where its scalars are.
class Row {
 public:
  Row(const kir::Rows& rows, RowForm form, bool is_const, std::string name, const kir::Expr& i)
      : rows_(rows), form_(form), name_(std::move(name)) {
    const kir::Expr start = row_offset(rows, i);
    const bool is_pointer = form == RowForm::pointer;
    const kir::VariableType type = is_pointer ? kir::VariableType{rows.dtype, is_const, true}
                                              : kir::VariableType{DType::int64, true, false};
    declaration_ = {
        kir::Decl{type, name_, 0, {is_pointer ? kir::offset(rows.data, start) : start}}};
  }

  [[nodiscard]] const kir::Stmt& declaration() const { return declaration_; }
  [[nodiscard]] kir::Expr scalar(const kir::Expr& c) const {
    const kir::Expr at =
        rows_.columns.empty() ? c : (c + kir::integer(rows_.component)) * kir::name(rows_.columns);
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
};

/// Statements for all scalars of the rows, `make(target or source, pack position)`: one by one
/// behind the start of each row, or in two loops.
template <class Make>
kir::Block over_rows(const kir::Rows& rows, const RowNames& names, const Make& make) {
  const bool is_long = rows.arity * rows.dim > unrolled_scalars;
  if (is_long && rows.entries.empty()) {
    const kir::Expr i = kir::name("i");
    const kir::Expr c = kir::name("c");
    const Row row(rows, names.form, names.is_const, names.prefix, i);
    kir::Stmt components{kir::For{kir::Axis::serial,
                                  "c",
                                  kir::integer(0),
                                  kir::integer(rows.dim),
                                  {make(row.scalar(c), i * kir::integer(rows.dim) + c)}}};
    return {{kir::For{kir::Axis::serial,
                      "i",
                      kir::integer(0),
                      kir::integer(rows.arity),
                      {row.declaration(), std::move(components)}}}};
  }
  kir::Block block;
  for (int i = 0; i < rows.arity; ++i) {
    const Row row(rows, names.form, names.is_const, fmt::format("{}{}", names.prefix, i),
                  kir::integer(i));
    if (rows.dim > 0) block.push_back(row.declaration());
    if (is_long && rows.dim > 1) {
      const kir::Expr c = kir::name("c");
      block.push_back({kir::For{kir::Axis::serial,
                                "c",
                                kir::integer(0),
                                kir::integer(rows.dim),
                                {make(row.scalar(c), kir::integer(i * rows.dim) + c)}}});
      continue;
    }
    for (int c = 0; c < rows.dim; ++c) {
      block.push_back(make(row.scalar(kir::integer(c)), kir::integer(i * rows.dim + c)));
    }
  }
  return block;
}

kir::Block expand_gather(const kir::Gather& gather, RowForm form) {
  const auto load = [&gather](const kir::Expr& source, const kir::Expr& at) -> kir::Stmt {
    return {kir::Assign{kir::element(gather.pack, at), kir::Update::set, source}};
  };
  return over_rows(gather.rows, {form, true, gather.pack + "_from"}, load);
}

kir::Block expand_scatter(const kir::Scatter& scatter) {
  const auto store = [&scatter](const kir::Expr& target, const kir::Expr& at) -> kir::Stmt {
    const kir::Expr value = kir::element(scatter.pack, at);
    if (scatter.sync == kir::Sync::atomic) {
      return {kir::Atomic{scatter.rows.dtype, target, scatter.update, value}};
    }
    return expand_assign({target, scatter.update, value});
  };
  // a pointer would have to say which memory it reaches
  const RowForm form = scatter.rows.is_shared ? RowForm::offset : RowForm::pointer;
  return over_rows(scatter.rows, {form, false, scatter.pack + "_to"}, store);
}

bool scatters(const kir::Block& block) {
  return std::any_of(block.begin(), block.end(), [](const kir::Stmt& stmt) {
    if (const auto* loop = std::get_if<kir::For>(&stmt.node)) return scatters(loop->body);
    if (const auto* branch = std::get_if<kir::If>(&stmt.node)) return scatters(branch->then);
    if (const auto* region = std::get_if<kir::Region>(&stmt.node)) return scatters(region->body);
    return std::holds_alternative<kir::Scatter>(stmt.node) ||
           std::holds_alternative<kir::MatInsert>(stmt.node);
  });
}

kir::Block expand_block(kir::Block block, RowForm form);

kir::Block expand_stmt(kir::Stmt stmt, RowForm form) {
  return std::visit(
      overload{
          [](kir::Decl& decl) -> kir::Block { return {{std::move(decl)}}; },
          [](kir::Assign& assign) -> kir::Block { return {expand_assign(std::move(assign))}; },
          [](kir::Atomic& atomic) -> kir::Block { return {{std::move(atomic)}}; },
          [](kir::CallUser& call) -> kir::Block { return {{std::move(call)}}; },
          [](kir::Call& call) -> kir::Block { return {{std::move(call)}}; },
          [form](kir::For& loop) -> kir::Block {
            loop.body = expand_block(std::move(loop.body), form);
            return {{std::move(loop)}};
          },
          [form](kir::If& branch) -> kir::Block {
            branch.then = expand_block(std::move(branch.then), form);
            return {{std::move(branch)}};
          },
          [form](kir::Region& region) -> kir::Block {
            region.body = expand_block(std::move(region.body), form);
            return {{std::move(region)}};
          },
          [](kir::Barrier& barrier) -> kir::Block { return {{barrier}}; },
          [](kir::Arrive& arrive) -> kir::Block { return {{std::move(arrive)}}; },
          [](kir::Launch& launch) -> kir::Block { return {{std::move(launch)}}; },
          [](kir::Scratch& scratch) -> kir::Block { return {{std::move(scratch)}}; },
          [form](kir::Gather& gather) { return expand_gather(gather, form); },
          [](kir::Scatter& scatter) { return expand_scatter(scatter); },
          [](kir::MatInsert& insert) { return expand_insert(insert); },
          [](kir::LaneGather& gather) -> kir::Block { return {{std::move(gather)}}; },
          [](kir::LaneTurn& turn) -> kir::Block { return {{std::move(turn)}}; },
          [](kir::LaneStore& store) -> kir::Block { return {{std::move(store)}}; },
          [](kir::LaneAdd& sum) -> kir::Block { return {{std::move(sum)}}; },
          [](kir::LaneShare& share) -> kir::Block { return {{std::move(share)}}; },
          [](kir::LaneFold& fold) -> kir::Block { return {{std::move(fold)}}; },
      },
      stmt.node);
}

kir::Block expand_block(kir::Block block, RowForm form) {
  kir::Block out;
  out.reserve(block.size());
  for (kir::Stmt& stmt : block) {
    for (kir::Stmt& expanded : expand_stmt(std::move(stmt), form)) {
      out.push_back(std::move(expanded));
    }
  }
  return out;
}

}  // namespace

kir::Block expand(kir::Block block) {
  const RowForm form = scatters(block) ? RowForm::pointer : RowForm::offset;
  return expand_block(std::move(block), form);
}

}  // namespace op2::lower
