// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "ir/group.hpp"
#include "lower/composed.hpp"
#include "lower/incidence.hpp"
#include "lower/make.hpp"
#include "lower/matrix.hpp"
#include "lower/pairs.hpp"
#include "lower/passes.hpp"
#include "lower/rows.hpp"

namespace op2::lower {
namespace {

/// A MIN or MAX pack of an owner starts at the owner's own value in every row: the rows of other
/// slots may be in the hands of other lanes, and the kernel is known not to look at them.
kir::Block own_rows(const ir::IndirectDat& dat, const std::string& pack, int arity,
                    const std::string& accumulator) {
  const kir::Expr at = kir::name("i") * kir::integer(dat.dim) + kir::name("c");
  return {serial("i", arity,
                 {for_components(dat.dim, kir::element(pack, at), kir::Update::set,
                                 kir::element(accumulator, kir::name("c")))})};
}

/// The packs of reduced arguments that start at the owner's value, and not at zero.
void load_own_rows(Builder& builder, const std::vector<std::string>& accumulators) {
  const ir::Loop& loop = builder.request().loop;
  const std::vector<std::size_t> args = reduced_args(loop);
  for (std::size_t i = 0; i < args.size(); ++i) {
    PackedArg& packed = builder.packed().args[args[i]];
    if (packed.load.empty()) continue;
    const auto& dat = std::get<ir::IndirectDat>(loop.args[args[i]]);
    packed.load = own_rows(dat, packed.pack, loop.maps[static_cast<std::size_t>(dat.map)].arity,
                           accumulators[i]);
  }
}

/// What the element body stores besides the owned shares: reduced Globals. An INC counts once an
/// element, in the slot that every element has; MIN and MAX may be repeated.
kir::Block global_stores(const Builder& builder, std::size_t member) {
  const ir::Loop& loop = builder.request().loop;
  const PackedCall& call = builder.packed().members[member];
  kir::Block once;
  kir::Block always;
  for (std::size_t i = call.first_arg; i < call.end_arg; ++i) {
    if (!std::holds_alternative<ir::GlobalReduce>(loop.args[i])) continue;
    append(ir::access_of(loop.args[i]) == Access::inc ? once : always,
           for_arg(i, builder.packed().args[i].store));
  }
  if (!once.empty()) {
    const kir::Expr slot =
        kir::integer(counting_slot(loop, builder.request().maps, member).value());
    always.push_back({kir::If{kir::equal(kir::name("o"), slot), std::move(once)}});
  }
  return always;
}

/// A MIN or MAX pack starts at the target's value in every row.
void load_target_rows(Builder& builder) {
  for (const std::size_t arg : reduced_args(builder.request().loop)) {
    for (kir::Stmt& stmt : builder.packed().args[arg].load) {
      kir::Rows& rows = std::get<kir::Gather>(stmt.node).rows;
      repeat_row(rows, own_target());
    }
  }
}

/// For lanes: one loop over the incidences of all targets of a range, so that every pass but the
/// last is full whatever the targets' degrees are. A share goes to its target at once, which makes
/// the same sums in the same order.
kir::Block visit_all(Builder& builder, const Incidence& incidence) {
  PackedLoop& packed = builder.packed();
  const ir::Loop& loop = builder.request().loop;
  std::vector<OwnedRow> rows = take_rows(builder);
  kir::Block visit{index_decl("target", target_of_slot(builder, incidence))};
  load_target_rows(builder);
  append(visit, loads(packed));
  append_call(visit, packed);
  for (const std::size_t arg : reduced_args(loop)) {
    visit.push_back(add_share(builder, incidence, arg));
  }
  kir::Block starts = declare_rows(builder, rows);
  append(visit, std::move(starts));
  for (const OwnedRow& row : rows) visit.push_back(add_to_row(builder, incidence, row));
  append(visit, global_stores(builder, 0));
  return {for_all_incidences(builder, incidence, located(packed.items, std::move(visit)))};
}

void finish(Builder& builder, const std::string& function) {
  builder.finish(builder.over_range(function, whole_begin(), whole_end()),
                 builder.slots(whole_begin(), whole_end()));
  builder.module().items = kir::Items::targets;
}

/// The other members of the Group, for the target itself.
kir::Block of_members(const PackedLoop& packed, std::size_t begin, std::size_t end) {
  kir::Block out;
  for (std::size_t member = begin; member < end; ++member) {
    append(out, loads(packed, member));
    append_call(out, packed.members[member]);
    append(out, stores(packed, member));
  }
  return out;
}

/// What is summed for a target: the private sums of reduced Dats, by reduced_args(), and rows.
struct Owned {
  std::vector<std::string> sums;
  std::vector<OwnedRow> rows;
};

/// What is done for one incidence: recompute the kernel, keep the share of the slot.
kir::Block visit_one(Builder& builder, const Incidence& incidence, std::size_t member,
                     const Owned& owned) {
  PackedLoop& packed = builder.packed();
  const ir::Loop& loop = builder.request().loop;
  kir::Block visit = loads(packed, member);
  kir::Block keep;
  if (packed.members.size() == 1) append(visit, packed.constants);
  append_call(visit, packed.members[member]);
  const std::vector<std::size_t> args = reduced_args(loop);
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (ir::member_of(loop, args[i]) != member) continue;
    keep.push_back(keep_share(builder, incidence, args[i], owned.sums[i], packed.args[args[i]].pack,
                              kir::integer(0), ShareFrom::pack));
  }
  if (incidence.is_paired) keep = where_is_pair(std::move(keep));
  append(visit, std::move(keep));
  for (const OwnedRow& row : owned.rows) {
    if (ir::member_of(loop, row.arg) != member) continue;
    visit.push_back(add_to_row(builder, incidence, row));
  }
  append(visit, global_stores(builder, member));
  return located(packed.items, std::move(visit));
}

/// What members do for one target, in their order: some for each of its incidences, the others once
/// for itself.
kir::Block visit_members(Builder& builder, const std::vector<Incidence>& incidences,
                         const Owned& owned) {
  const std::vector<std::size_t> inverted = ir::inverted_members(builder.request().loop);
  kir::Block out;
  for (const Incidence& incidence : incidences) append(out, load_presence(incidence));
  std::size_t next = 0;
  for (std::size_t i = 0; i < inverted.size(); ++i) {
    append(out, of_members(builder.packed(), next, inverted[i]));
    if (incidences[i].is_paired) append(out, load_pairs(builder, incidences[i], inverted[i]));
    if (incidences[i].is_composed) append(out, load_composed(builder, incidences[i], inverted[i]));
    kir::Block visit = visit_one(builder, incidences[i], inverted[i], owned);
    append(out, commented("Every element that leads to the target, for what the target gets of it.",
                          for_incidences(builder, incidences[i], std::move(visit))));
    next = inverted[i] + 1;
  }
  append(out, of_members(builder.packed(), next, builder.packed().members.size()));
  return out;
}

/// What is done for one target: sum over its incidences, and between loading and storing the sums
/// whatever other members do.
kir::Block of_one_target(Builder& builder, const std::vector<Incidence>& incidences) {
  PackedLoop& packed = builder.packed();
  const Owned owned{take_accumulators(builder), take_rows(builder)};
  load_own_rows(builder, owned.sums);
  kir::Block visits = visit_members(builder, incidences, owned);
  kir::Block body = load_accumulators(builder, owned.sums);
  append(body, declare_rows(builder, owned.rows));
  if (packed.members.size() > 1) append(body, packed.constants);
  append(body, std::move(visits));
  append(body, store_accumulators(builder, owned.sums));
  return of_target(builder, incidences.front(), std::move(body));
}

/// An inverse for each member that is visited by incidences.
std::vector<Incidence> add_incidences(Builder& builder) {
  std::vector<Incidence> out;
  for (const std::size_t member : ir::inverted_members(builder.request().loop)) {
    out.push_back(add_incidence(builder, Sizes::if_padded, member));
  }
  return out;
}

}  // namespace

void invert(Builder& builder) {
  const bool is_on_lanes = builder.request().options.lanes > 1;
  const ir::Group& group = builder.request().loop;
  const std::string function = builder.packed().names.take("wrap_" + ir::name_of(group));
  const std::vector<Incidence> incidences = add_incidences(builder);
  abi::inversion_of(builder.module().plan)->all_targets = group.members.size() > 1;
  std::vector<kir::Parameter> parameters = builder.packed().parameters;
  for (const Incidence& incidence : incidences) {
    for (kir::Parameter& parameter : incidence.parameters()) parameters.push_back(parameter);
  }
  if (!is_on_lanes) {
    builder.add_function(function, std::move(parameters), "t", of_one_target(builder, incidences));
  } else if (builder.is_grid()) {
    builder.add_kernel(function, Builder::with_range(std::move(parameters)),
                       visit_all(builder, incidences.front()));
  } else {
    builder.add_range_function(function, std::move(parameters),
                               visit_all(builder, incidences.front()));
  }
  if (incidences.front().is_paired) bound_registers(builder);
  finish(builder, function);
}

}  // namespace op2::lower
