// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/overload.hpp"
#include "lower/passes.hpp"

namespace op2::lower {
namespace {

// Rows of up to this many scalars become one statement a scalar: GCC does not unroll a nest of two
// short loops around private arrays, which costs airfoil's edge loop 13 % (docs/performance.md).
constexpr int unrolled_scalars = 64;

/// Where row i of the data starts, as an address.
kir::Expr row_address(const kir::Rows& rows, const kir::Expr& i) {
  const kir::Expr entry = kir::element(rows.map, rows.element * kir::integer(rows.arity) + i);
  return kir::offset(rows.data, kir::widen(entry) * kir::integer(rows.dim));
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

/// Statements for all scalars of the rows, `make(target or source, pack position)`: one by one
/// behind a pointer to each row, or in two loops.
template <class Make>
kir::Block over_rows(const kir::Rows& rows, bool is_const, const std::string& row_name,
                     const Make& make) {
  const auto declare_row = [&rows, is_const](const std::string& name, const kir::Expr& i) {
    const kir::VariableType type{rows.dtype, is_const, true};
    return kir::Stmt{kir::Decl{type, name, 0, {row_address(rows, i)}}};
  };
  if (rows.arity * rows.dim > unrolled_scalars) {
    const kir::Expr i = kir::name("i");
    const kir::Expr c = kir::name("c");
    kir::Stmt components{
        kir::For{kir::Axis::serial,
                 "c",
                 kir::integer(0),
                 kir::integer(rows.dim),
                 {make(kir::element(row_name, c), i * kir::integer(rows.dim) + c)}}};
    return {{kir::For{kir::Axis::serial,
                      "i",
                      kir::integer(0),
                      kir::integer(rows.arity),
                      {declare_row(row_name, i), std::move(components)}}}};
  }
  kir::Block block;
  for (int i = 0; i < rows.arity; ++i) {
    const std::string name = fmt::format("{}{}", row_name, i);
    if (rows.dim > 0) block.push_back(declare_row(name, kir::integer(i)));
    for (int c = 0; c < rows.dim; ++c) {
      block.push_back(make(kir::element(name, kir::integer(c)), kir::integer(i * rows.dim + c)));
    }
  }
  return block;
}

kir::Block expand_gather(const kir::Gather& gather) {
  const auto load = [&gather](const kir::Expr& source, const kir::Expr& at) -> kir::Stmt {
    return {kir::Assign{kir::element(gather.pack, at), kir::Update::set, source}};
  };
  return over_rows(gather.rows, true, gather.pack + "_from", load);
}

kir::Block expand_scatter(const kir::Scatter& scatter) {
  const auto store = [&scatter](const kir::Expr& target, const kir::Expr& at) -> kir::Stmt {
    const kir::Expr value = kir::element(scatter.pack, at);
    if (scatter.sync == kir::Sync::atomic) {
      return {kir::Atomic{scatter.rows.dtype, target, scatter.update, value}};
    }
    return expand_assign({target, scatter.update, value});
  };
  return over_rows(scatter.rows, false, scatter.pack + "_to", store);
}

kir::Block expand_stmt(kir::Stmt stmt) {
  return std::visit(
      overload{
          [](kir::Decl& decl) -> kir::Block { return {{std::move(decl)}}; },
          [](kir::Assign& assign) -> kir::Block { return {expand_assign(std::move(assign))}; },
          [](kir::Atomic& atomic) -> kir::Block { return {{std::move(atomic)}}; },
          [](kir::CallUser& call) -> kir::Block { return {{std::move(call)}}; },
          [](kir::Call& call) -> kir::Block { return {{std::move(call)}}; },
          [](kir::For& loop) -> kir::Block {
            loop.body = expand(std::move(loop.body));
            return {{std::move(loop)}};
          },
          [](kir::If& branch) -> kir::Block {
            branch.then = expand(std::move(branch.then));
            return {{std::move(branch)}};
          },
          [](kir::Region& region) -> kir::Block {
            region.body = expand(std::move(region.body));
            return {{std::move(region)}};
          },
          [](kir::Gather& gather) { return expand_gather(gather); },
          [](kir::Scatter& scatter) { return expand_scatter(scatter); },
      },
      stmt.node);
}

}  // namespace

kir::Block expand(kir::Block block) {
  kir::Block out;
  out.reserve(block.size());
  for (kir::Stmt& stmt : block) {
    for (kir::Stmt& expanded : expand_stmt(std::move(stmt))) out.push_back(std::move(expanded));
  }
  return out;
}

}  // namespace op2::lower
