// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "base/overload.hpp"
#include "lower/passes.hpp"

namespace op2::lower {
namespace {

kir::Expr pack_at(const kir::Rows& rows) {
  return kir::name("i") * kir::integer(rows.dim) + kir::name("c");
}

kir::Expr data_at(const kir::Rows& rows) {
  const kir::Expr entry =
      kir::element(rows.map, rows.element * kir::integer(rows.arity) + kir::name("i"));
  return entry * kir::integer(rows.dim) + kir::name("c");
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

kir::Stmt for_rows(const kir::Rows& rows, kir::Stmt body) {
  kir::Stmt components{kir::For{kir::Axis::serial, "c", kir::integer(0), kir::integer(rows.dim),
                              {std::move(body)}}};
  return {kir::For{kir::Axis::serial, "i", kir::integer(0), kir::integer(rows.arity),
                  {std::move(components)}}};
}

kir::Stmt expand_scatter(const kir::Scatter& scatter) {
  const kir::Expr target = kir::element(scatter.rows.data, data_at(scatter.rows));
  const kir::Expr value = kir::element(scatter.pack, pack_at(scatter.rows));
  if (scatter.sync == kir::Sync::atomic) {
    return for_rows(scatter.rows,
                    {kir::Atomic{scatter.rows.dtype, target, scatter.update, value}});
  }
  return for_rows(scatter.rows, expand_assign({target, scatter.update, value}));
}

kir::Stmt expand_stmt(kir::Stmt stmt) {
  return std::visit(
      overload{
          [](kir::Decl& decl) -> kir::Stmt { return {std::move(decl)}; },
          [](kir::Assign& assign) { return expand_assign(std::move(assign)); },
          [](kir::Atomic& atomic) -> kir::Stmt { return {std::move(atomic)}; },
          [](kir::CallUser& call) -> kir::Stmt { return {std::move(call)}; },
          [](kir::Call& call) -> kir::Stmt { return {std::move(call)}; },
          [](kir::For& loop) -> kir::Stmt {
            loop.body = expand(std::move(loop.body));
            return {std::move(loop)};
          },
          [](kir::If& branch) -> kir::Stmt {
            branch.then = expand(std::move(branch.then));
            return {std::move(branch)};
          },
          [](kir::Region& region) -> kir::Stmt {
            region.body = expand(std::move(region.body));
            return {std::move(region)};
          },
          [](kir::Gather& gather) {
            return for_rows(gather.rows,
                            {kir::Assign{kir::element(gather.pack, pack_at(gather.rows)),
                                        kir::Update::set,
                                        kir::element(gather.rows.data, data_at(gather.rows))}});
          },
          [](kir::Zero& zero) -> kir::Stmt {
            return {kir::For{kir::Axis::serial, "c", kir::integer(0), kir::integer(zero.extent),
                            {{kir::Assign{kir::element(zero.pack, kir::name("c")), kir::Update::set,
                                         kir::integer(0)}}}}};
          },
          [](kir::Scatter& scatter) { return expand_scatter(scatter); },
      },
      stmt.node);
}

}  // namespace

kir::Block expand(kir::Block block) {
  kir::Block out;
  out.reserve(block.size());
  for (kir::Stmt& stmt : block) out.push_back(expand_stmt(std::move(stmt)));
  return out;
}

}  // namespace op2::lower
