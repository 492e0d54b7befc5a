// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "kir/walk.hpp"
#include "lower/make.hpp"
#include "lower/passes.hpp"

namespace op2::lower {
namespace {

/// A lane that strides over the grid would fetch whole lines of a cache for an item of each.
kir::Block in_runs(kir::For loop) {
  const kir::Expr n_global = kir::builtin(kir::Builtin::n_global);
  const kir::Expr first = kir::name("lane_first");
  const kir::Expr n_items = kir::name("lane_items");
  // whole passes of a loop on lanes, whose last pass alone may be shorter
  const kir::Expr step = kir::integer(loop.step);
  const kir::Expr n_per_pass = n_global * step;
  const kir::Expr n_passes = (loop.end - loop.begin + n_per_pass - kir::integer(1)) / n_per_pass;
  kir::Block out{
      index_decl("lane_items", n_passes * step),
      index_decl("lane_first", loop.begin + kir::builtin(kir::Builtin::global_id) * n_items)};
  loop.axis = kir::Axis::serial;
  loop.end = kir::minimum(first + n_items, loop.end);
  loop.begin = first;
  out.push_back({std::move(loop)});
  return out;
}

kir::Block grid_in_runs(kir::Block block) {
  kir::Block out;
  for (kir::Stmt& stmt : block) {
    auto* loop = std::get_if<kir::For>(&stmt.node);
    if (loop == nullptr || loop->axis != kir::Axis::grid) {
      out.push_back(std::move(stmt));
      continue;
    }
    append(out, in_runs(std::move(*loop)));
  }
  return out;
}

}  // namespace

kir::Block legalise(kir::Block block, const Facts& facts) {
  if (facts.lanes == Lanes::grid && facts.runs_in_lane) return grid_in_runs(std::move(block));
  if (facts.lanes != Lanes::one) return block;
  return kir::map_stmts(std::move(block), [](kir::Stmt stmt) -> kir::Block {
    if (auto* region = std::get_if<kir::Region>(&stmt.node)) return std::move(region->body);
    if (auto* loop = std::get_if<kir::For>(&stmt.node)) loop->axis = kir::Axis::serial;
    return {std::move(stmt)};
  });
}

}  // namespace op2::lower
