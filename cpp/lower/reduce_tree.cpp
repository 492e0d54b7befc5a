// SPDX-License-Identifier: BSD-3-Clause
#include "lower/reduce_tree.hpp"
#include "lower/make.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace op2::lower {
namespace {

kir::Expr component() {
  return kir::name("c");
}

kir::Stmt over_leaves(const kir::Expr& begin, int end, kir::Block body) {
  return {kir::For{kir::Axis::lane, "lane", begin, kir::integer(end), std::move(body)}};
}

}  // namespace

kir::Expr Reduced::start() const {
  return starts_at_zero() ? kir::integer(0) : kir::element(data, component());
}

kir::Expr Reduced::partial_of(const kir::Expr& slot) const {
  return kir::element(partial, slot * kir::integer(dim) + component());
}

kir::Stmt on_first_lane(kir::Block body) {
  return {kir::If{kir::equal(lane_id(), kir::integer(0)), std::move(body)}};
}

ReductionTree::ReductionTree(std::vector<Reduced> globals, int warp, bool is_fixed,
                             const Tuning& tuning, int most_leaves)
    : globals_(std::move(globals)),
      is_fixed_(is_fixed),
      warp_(warp),
      n_lanes_(most_leaves == 0 ? tuning.tree_lanes : std::min(tuning.tree_lanes, most_leaves)) {
  std::int64_t bytes = 0;  // of one lane
  int n_scalars = 0;
  bool is_real = true;
  for (const Reduced& global : globals_) {
    bytes += static_cast<std::int64_t>(size_of(global.dtype)) * global.dim;
    n_scalars += global.dim;
    is_real = is_real && !is_complex(global.dtype);
  }
  if (!is_fixed && warp > 0 && is_real && n_scalars <= tuning.exchanged_scalars) {
    shape_ = Shape::warps;
    n_lanes_ = std::min(n_lanes_, warp * warp);  // one warp folds what all have
    return;
  }
  while (n_lanes_ > 1 && n_lanes_ * bytes > tuning.tree_bytes) n_lanes_ /= 2;
}

kir::Block ReductionTree::declarations() const {
  const int n = shape_ == Shape::warps ? n_lanes_ / warp_ : n_lanes_;
  kir::Block out;
  for (const Reduced& global : globals_) {
    out.push_back(
        {kir::Decl{{global.dtype}, global.tree, n * global.dim, {}, kir::Storage::block}});
  }
  if (is_fixed_) return out;
  for (const Reduced& global : globals_) {
    kir::Decl decl{{global.dtype}, global.lane, global.dim, {}};
    if (global.starts_at_zero()) decl.value = kir::integer(0);
    out.push_back({std::move(decl)});
  }
  return out;
}

kir::Block ReductionTree::starts() const {
  kir::Block out;
  for (const Reduced& global : globals_) {
    out.push_back(for_components(
        global.dim, {{kir::Assign{own(global, component()), kir::Update::set, global.start()}}}));
  }
  return out;
}

kir::Expr ReductionTree::own(const Reduced& global, const kir::Expr& c) const {
  if (!is_fixed_) return kir::element(global.lane, c);
  return kir::element(global.tree, c * kir::integer(n_lanes_) + kir::name("lane"));
}

kir::Expr ReductionTree::leaf(const Reduced& global, const kir::Expr& lane) const {
  return kir::element(global.tree, component() * kir::integer(n_lanes_) + lane);
}

kir::Expr ReductionTree::result(const Reduced& global) const {
  return shape_ == Shape::warps ? own(global, component()) : leaf(global, kir::integer(0));
}

kir::Block ReductionTree::combined() const {
  const std::string what = "The values of the block's lanes become one.";
  if (shape_ == Shape::warps) return commented(what, folded_warps());
  kir::Block out;
  if (!is_fixed_) out = to_leaves();
  append(out, folded_leaves());
  return commented(what, std::move(out));
}

/// A block may have fewer lanes than the tree has leaves.
kir::Block ReductionTree::to_leaves() const {
  kir::Block out;
  for (const Reduced& global : globals_) {
    out.push_back(over_leaves(
        kir::builtin(kir::Builtin::n_lanes), n_lanes_,
        {for_components(global.dim, {{kir::Assign{leaf(global, kir::name("lane")), kir::Update::set,
                                                  global.start()}}})}));
    out.push_back(for_components(
        global.dim,
        {{kir::Assign{leaf(global, lane_id()), kir::Update::set, own(global, component())}}}));
  }
  return out;
}

/// Fold the leaves into the first, halving their number each time.
kir::Block ReductionTree::folded_leaves() const {
  kir::Block out{{kir::Barrier{}}};
  const kir::Expr lane = kir::name("lane");
  for (int half = n_lanes_ / 2; half >= 1; half /= 2) {
    kir::Block fold;
    for (const Reduced& global : globals_) {
      fold.push_back(
          for_components(global.dim, {{kir::Assign{leaf(global, lane), global.update,
                                                   leaf(global, lane + kir::integer(half))}}}));
    }
    out.push_back(over_leaves(kir::integer(0), half, std::move(fold)));
    out.push_back({kir::Barrier{}});
  }
  return out;
}

/// Fold a warp into its first lane, then what the warps have, with the lanes of the first one.
kir::Block ReductionTree::folded_warps() const {
  kir::Block out = folded_lanes(warp_);
  kir::Block to_shared;
  kir::Block from_shared;
  const kir::Expr warp = kir::integer(warp_);
  const int most_warps = n_lanes_ / warp_;
  const kir::Expr n_warps = kir::builtin(kir::Builtin::n_lanes) / warp;
  for (const Reduced& global : globals_) {
    const auto of_warp = [&](const kir::Expr& number) {
      return kir::element(global.tree, component() * kir::integer(most_warps) + number);
    };
    const kir::Expr own_value = own(global, component());
    to_shared.push_back(for_components(
        global.dim, {{kir::Assign{of_warp(lane_id() / warp), kir::Update::set, own_value}}}));
    from_shared.push_back(for_components(
        global.dim, {{kir::Assign{own_value, kir::Update::set,
                                  kir::select(kir::less(lane_id(), n_warps), of_warp(lane_id()),
                                              global.start())}}}));
  }
  append(from_shared, folded_lanes(most_warps));
  out.push_back({kir::If{kir::equal(lane_id() % warp, kir::integer(0)), std::move(to_shared)}});
  out.push_back({kir::Barrier{}});
  out.push_back({kir::If{kir::less(lane_id(), warp), std::move(from_shared)}});
  return out;
}

/// Fold the first @p n lanes of a warp into its first one; all lanes of the warp must get here.
kir::Block ReductionTree::folded_lanes(int n) const {
  kir::Block out;
  for (int half = n / 2; half >= 1; half /= 2) {
    for (const Reduced& global : globals_) {
      const kir::Expr own_value = own(global, component());
      const kir::Expr other = kir::shuffle(own_value, lane_id() + kir::integer(half), warp_);
      kir::Block fold;
      if (global.update == kir::Update::add) {
        fold.push_back({kir::Assign{own_value, global.update, other}});
      } else {  // which is mentioned twice
        fold.push_back({kir::Decl{{global.dtype}, global.got, 0, {other}}});
        fold.push_back({kir::Assign{own_value, global.update, kir::name(global.got)}});
      }
      out.push_back(for_components(global.dim, std::move(fold)));
    }
  }
  return out;
}

kir::Block ReductionTree::combined_partials(const kir::Expr& n_slots) const {
  kir::Block out;
  const kir::Expr slot =
      is_fixed_ ? kir::name("k") * kir::integer(n_lanes_) + kir::name("lane") : kir::name("k");
  kir::Block shares;
  for (const Reduced& global : globals_) {
    shares.push_back(for_components(
        global.dim,
        {{kir::Assign{own(global, component()), global.update, global.partial_of(slot)}}}));
  }
  out = starts();
  if (!is_fixed_) {
    out.push_back({kir::For{kir::Axis::lane, "k", kir::integer(0), n_slots, std::move(shares)}});
  } else {
    const kir::Expr n_shares =
        (n_slots - kir::name("lane") + kir::integer(n_lanes_ - 1)) / kir::integer(n_lanes_);
    out.push_back({kir::For{kir::Axis::serial, "k", kir::integer(0), n_shares, std::move(shares)}});
    out = {over_leaves(kir::integer(0), n_lanes_, std::move(out))};
  }
  append(out, combined());
  return out;
}

kir::Block ReductionTree::to_slot(const kir::Expr& slot) const {
  kir::Block out;
  for (const Reduced& global : globals_) {
    out.push_back(for_components(
        global.dim, {{kir::Assign{global.partial_of(slot), kir::Update::set, result(global)}}}));
  }
  return out;
}

kir::Block ReductionTree::to_globals(bool sets) const {
  kir::Block out;
  for (const Reduced& global : globals_) {
    const kir::Update update = sets && global.is_zeroed ? kir::Update::set : global.update;
    out.push_back(for_components(global.dim, {{kir::Assign{kir::element(global.data, component()),
                                                           update, result(global)}}}));
  }
  return out;
}

}  // namespace op2::lower
