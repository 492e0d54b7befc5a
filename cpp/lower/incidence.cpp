// SPDX-License-Identifier: BSD-3-Clause
#include "lower/incidence.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "ir/group.hpp"
#include "kir/walk.hpp"
#include "lower/composed.hpp"
#include "lower/items.hpp"
#include "lower/make.hpp"
#include "lower/pairs.hpp"

namespace op2::lower {
namespace {

const ir::IndirectDat& indirect(const ir::Loop& loop, std::size_t arg) {
  return std::get<ir::IndirectDat>(loop.args[arg]);
}

kir::Expr at_target(Builder& builder, std::size_t arg) {
  return builder.scalar(arg, own_target(), kir::name("c"));
}

/// Component c of slot o among the results of one element.
struct Share {
  const std::string& values;
  const kir::Expr& at;
  int first;  // slot of the Map's first entry
  int arity;
  int dim;
};

kir::Expr indexed(const Share& share) {
  const kir::Expr row = (kir::name("o") - kir::integer(share.first)) * kir::integer(share.dim);
  return kir::element(share.values, share.at + row + kir::name("c"));
}

kir::Expr selected(const Share& share) {
  const auto of_slot = [&share](int slot) {
    return kir::element(share.values, share.at + kir::integer(slot * share.dim) + kir::name("c"));
  };
  kir::Expr value = of_slot(share.arity - 1);
  for (int slot = share.arity - 2; slot >= 0; --slot) {
    value = kir::select(kir::equal(kir::name("o"), kir::integer(share.first + slot)), of_slot(slot),
                        value);
  }
  return value;
}

/// Consecutive targets read consecutive entries of a column. The next column's entry is on its way
/// while this one's element is computed: all that follows depends on it.
kir::Block along_columns(const Incidence& incidence, kir::Block body) {
  const kir::Expr none = kir::integer(-1);
  const kir::Expr n_columns = kir::name(incidence.n_columns.name);
  const auto entry_of = [&](const kir::Expr& column) {
    const kir::Expr at = column * kir::name(incidence.n_rows.name) + kir::name("t");
    const kir::Expr entry = incidence.has_entries ? kir::element(incidence.entry.name, at)
                                                  : leading_entry(incidence, column);
    return kir::select(kir::less(column, n_columns), entry, none);
  };
  const kir::Expr k = kir::name("k");
  kir::Block column{
      index_decl("entry", kir::name("next")),
      {kir::Assign{kir::name("next"), kir::Update::set, entry_of(k + kir::integer(1))}},
      {kir::If{kir::less(none, kir::name("entry")), std::move(body)}}};
  return {{kir::Decl{{DType::int64}, "next", 0, {entry_of(kir::integer(0))}}},
          {kir::For{kir::Axis::serial, "k", kir::integer(0), n_columns, std::move(column)}}};
}

/// A sum need not wait for what was there before: that is added at last, unless somebody looks at
/// the sum before, or it is known.
bool is_added_at_last(const Builder& builder, std::size_t arg) {
  const ir::Loop& loop = builder.request().loop;
  const auto is_seen = [&](const ir::Arg& other) {
    return std::holds_alternative<ir::DirectDat>(other) &&
           ir::alias_of(other).data == ir::alias_of(loop.args[arg]).data;
  };
  return builder.request().options.tuning.sums_added_last &&
         ir::access_of(loop.args[arg]) == Access::inc && !ir::starts_at_zero(loop, arg) &&
         std::ranges::none_of(loop.args, is_seen);
}

/// True if a Dat is reached by @p map, which must lead somewhere from every element then.
bool leads_to_dat(const ir::Loop& loop, int map) {
  return std::any_of(loop.args.begin(), loop.args.end(), [map](const ir::Arg& arg) {
    return std::holds_alternative<ir::IndirectDat>(arg) && ir::target_map_of(arg) == map;
  });
}

/// True for the first argument that accumulates into its name.
bool is_first(const std::vector<std::string>& names, std::size_t i) {
  return std::find(names.begin(), names.end(), names[i]) ==
         names.begin() + static_cast<std::ptrdiff_t>(i);
}

}  // namespace

std::vector<int> reduced_maps(const ir::Loop& loop, std::optional<std::size_t> member) {
  std::vector<int> maps;
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const bool is_others = member && *member != ir::member_of(loop, i);
    if (is_others || !ir::is_summed(loop, i)) continue;
    const int map = ir::target_map_of(loop.args[i]);
    if (std::find(maps.begin(), maps.end(), map) == maps.end()) maps.push_back(map);
  }
  return maps;
}

std::vector<std::size_t> reduced_args(const ir::Loop& loop) {
  std::vector<std::size_t> args;
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const bool is_dat = std::holds_alternative<ir::IndirectDat>(loop.args[i]);
    if (is_dat && ir::is_summed(loop, i)) args.push_back(i);
  }
  return args;
}

std::vector<std::string> take_accumulators(Builder& builder) {
  const ir::Loop& loop = builder.request().loop;
  const std::vector<std::size_t> args = reduced_args(loop);
  std::vector<std::string> names;
  for (const std::size_t arg : args) {
    if (const std::string& sum = builder.packed().args[arg].sum; !sum.empty()) {
      names.push_back(sum);
      continue;
    }
    const int data = ir::alias_of(loop.args[arg]).data;
    const auto earlier = std::find_if(args.begin(), args.end(), [&](std::size_t other) {
      return ir::alias_of(loop.args[other]).data == data;
    });
    names.push_back(*earlier == arg
                        ? builder.packed().names.take(builder.packed().args[arg].data + "_own")
                        : names[static_cast<std::size_t>(earlier - args.begin())]);
  }
  return names;
}

SlotRange slots_of(const Incidence& incidence, const ir::Loop& loop, int map) {
  const auto arity = [&loop](int which) {
    return loop.maps[static_cast<std::size_t>(which)].arity;
  };
  int first = 0;
  for (const int earlier : incidence.maps) {
    if (earlier == map) break;
    first += arity(earlier);
  }
  return {first, arity(map)};
}

kir::Stmt where_slot_is(const Incidence& incidence, const SlotRange& slots, kir::Block body) {
  const bool always = incidence.maps.size() == 1;
  if (always && body.size() == 1) return std::move(body.front());
  const kir::Expr o = kir::name("o");
  kir::Stmt below{kir::If{kir::less(o, kir::integer(slots.first + slots.arity)), std::move(body)}};
  if (slots.first == 0) return below;
  return {kir::If{kir::less(kir::integer(slots.first - 1), o), {std::move(below)}}};
}

int n_slots(const ir::Loop& loop) {
  int slots = 0;
  for (const int map : reduced_maps(loop)) slots += loop.maps[static_cast<std::size_t>(map)].arity;
  return slots;
}

std::optional<int> counting_slot(const ir::Loop& loop, const std::vector<MapFacts>& maps,
                                 std::size_t member) {
  int first = 0;
  for (const int map : reduced_maps(loop, member)) {
    const auto at = static_cast<std::size_t>(map);
    if (!maps[at].has_negative || leads_to_dat(loop, map)) return first;
    first += loop.maps[at].arity;
  }
  return std::nullopt;
}

std::vector<kir::Parameter> Incidence::parameters() const {
  std::vector<kir::Parameter> all;
  if (!present.name.empty()) all.push_back(present);
  if (!is_padded) all.push_back(offset);
  if (is_paired) all.push_back(pairs.neighbours);
  if (!is_paired && has_entries) all.push_back(entry);
  for (const auto& [map, parameter] : pairs.rows) all.push_back(parameter);
  for (const auto& [map, corners] : pairs.corners) all.push_back(corners.codes);
  for (const auto& [map, rows] : composed) all.push_back(rows.rows);
  if (!target.name.empty()) all.push_back(target);
  if (is_padded) all.insert(all.end(), {n_columns, n_rows});
  return all;
}

Incidence add_incidence(Builder& builder, Sizes sizes, std::size_t member) {
  const Request& request = builder.request();
  kir::PlanSpec& plan = builder.module().plan;
  const bool is_first = std::holds_alternative<abi::NoPlan>(plan);
  Incidence incidence;
  incidence.maps = reduced_maps(request.loop, member);
  for (const int map : incidence.maps) {
    incidence.n_slots += request.loop.maps[static_cast<std::size_t>(map)].arity;
  }
  // lanes go from one incidence to the next, whatever their targets are
  const bool has_lanes = request.options.lanes > 1;
  incidence.is_padded =
      request.options.widths.padded && builder.is_grid() && !has_lanes && is_first;
  incidence.is_paired = incidence.is_padded && visits_pairs(request, member);
  std::optional<Composition> composition;
  if (is_first && !has_lanes) composition = composition_of(request, member);
  incidence.is_composed = composition.has_value();
  incidence.has_entries = !composition || composition->needs_elements;
  abi::ComposedMaps composed;
  if (composition) composed = {composition->maps, request.options.widths.target_bytes};
  if (!is_first) {
    abi::inversion_of(plan)->further.push_back(incidence.maps);
  } else if (incidence.is_paired) {
    plan = abi::PairsPlan{{incidence.maps}};
  } else if (incidence.is_padded) {
    plan = abi::PaddedPlan{{incidence.maps}, composed, incidence.has_entries};
  } else {
    plan = abi::InversePlan{{incidence.maps}, composed, incidence.has_entries};
  }
  if (incidence.is_padded || sizes == Sizes::always) {
    incidence.sizes = builder.plan_array(kir::PlanArray::sizes, "sizes", DType::int64);
  }
  if (!incidence.is_padded) {
    incidence.offset =
        builder.plan_array(kir::PlanArray::incidence_offset, "incidence_offset", DType::int64);
  }
  if (incidence.is_paired) {
    incidence.pairs = add_pair_arrays(builder, incidence.maps.front(), member);
  } else if (incidence.has_entries) {
    incidence.entry = builder.plan_array(kir::PlanArray::incidences, "incidence",
                                         index_dtype(request.options.widths.entry_bytes));
  }
  if (composition) add_composed(builder, incidence, *composition, member);
  if (!is_first && builder.is_grid()) {
    incidence.present =
        builder.plan_array(kir::PlanArray::has_incidences, "has_incidences", DType::uint8);
    incidence.is_present = builder.packed().names.take("is_present");
  }
  if (is_first) {
    incidence.target = builder.plan_array(kir::PlanArray::touched, "touched",
                                          index_dtype(request.options.widths.target_bytes));
  }
  if (incidence.is_padded) {
    const auto size = [&incidence](int i) {
      return kir::element(incidence.sizes.name, kir::integer(i));
    };
    incidence.n_columns = builder.launch_number("n_columns", size(1));
    incidence.n_rows = builder.launch_number("n_rows", size(0));
  }
  return incidence;
}

kir::Block of_target(const Builder& builder, const Incidence& incidence, kir::Block body) {
  const kir::Expr t = kir::name("t");
  const kir::Expr listed = kir::element(incidence.target.name, t);
  const kir::Expr target = abi::inversion_of(builder.module().plan)->all_targets
                               ? t
                               : kir::select(kir::name(incidence.target.name), listed, t);
  body.insert(body.begin(), index_decl("target", target));
  return body;
}

namespace {

/// @p body after the item's position and, where it is used, `o`; both are taken from @p entry.
kir::Block of_entry(Builder& builder, const Incidence& incidence, const kir::Expr& entry,
                    const kir::Block& body) {
  const kir::Expr slots = kir::integer(incidence.n_slots);
  const std::string& position = builder.packed().items.position;
  kir::Block declared{index_decl(position, entry / slots)};
  if (kir::names_used(body).contains("o")) {
    declared.push_back(index_decl("o", entry - kir::name(position) * slots));
  }
  append(declared, std::move(body));
  return declared;
}

/// The row that slot `o` of element `n` names, for the slots of one Map.
kir::Expr row_of_slot(const ir::Loop& loop, int map, const std::string& table, int first) {
  const ir::MapRef& path = loop.maps[static_cast<std::size_t>(map)];
  if (path.rows.empty()) {
    const kir::Expr at = own_element() * kir::integer(path.arity) + kir::name("o");
    return kir::widen(kir::element(table, first == 0 ? at : at - kir::integer(first)));
  }
  const std::vector<kir::Expr> entries = targets_of(loop, map, table, own_element());
  kir::Expr row = entries.back();
  for (std::size_t slot = entries.size() - 1; slot-- > 0;) {
    const kir::Expr number = kir::integer(first + static_cast<int>(slot));
    row = kir::select(kir::equal(kir::name("o"), number), entries[slot], row);
  }
  return row;
}

}  // namespace

kir::Stmt for_all_incidences(Builder& builder, const Incidence& incidence, kir::Block body) {
  const kir::Expr entry = kir::element(incidence.entry.name, kir::name("k"));
  const auto over = [&](const kir::Expr& first, const kir::Expr& last) -> kir::Stmt {
    return {kir::For{kir::Axis::serial, "k", kir::element(incidence.offset.name, first),
                     kir::element(incidence.offset.name, last),
                     of_entry(builder, incidence, entry, body)}};
  };
  if (!builder.is_grid()) return over(whole_begin(), whole_end());
  const kir::Expr t = kir::name("t");
  // lanes share the incidences of so many targets: few passes are not full, all threads get some
  const int run = builder.request().options.tuning.owner_run;
  const kir::Expr next = kir::minimum(t + kir::integer(run), whole_end());
  return {kir::For{
      kir::Axis::grid, "t", whole_begin(), whole_end(), {over(t, next)}, DType::int64, run}};
}

kir::Expr target_of_slot(Builder& builder, const Incidence& incidence) {
  const ir::Loop& loop = builder.request().loop;
  const auto table_of = [&builder, &loop](int map) {
    for (std::size_t i = 0; i < loop.args.size(); ++i) {
      if (ir::target_map_of(loop.args[i]) == map) return builder.packed().args[i].map;
    }
    throw InternalError("an inverted Map that no argument uses");
  };
  const auto row = [&](int map) {
    return row_of_slot(loop, map, table_of(map), slots_of(incidence, loop, map).first);
  };
  kir::Expr target = row(incidence.maps.back());
  for (std::size_t i = incidence.maps.size() - 1; i-- > 0;) {
    const SlotRange slots = slots_of(incidence, loop, incidence.maps[i]);
    const kir::Expr end = kir::integer(slots.first + slots.arity);
    target = kir::select(kir::less(kir::name("o"), end), row(incidence.maps[i]), target);
  }
  return target;
}

kir::Stmt add_share(Builder& builder, const Incidence& incidence, std::size_t arg) {
  const ir::Loop& loop = builder.request().loop;
  const ir::IndirectDat& dat = indirect(loop, arg);
  const SlotRange slots = slots_of(incidence, loop, dat.map);
  const kir::Expr start = kir::integer(0);
  const Share share{builder.packed().args[arg].pack, start, slots.first, slots.arity, dat.dim};
  kir::Stmt add =
      for_components(dat.dim, at_target(builder, arg), update_of(dat.access), indexed(share));
  return where_slot_is(incidence, slots, {std::move(add)});
}

kir::Block load_presence(const Incidence& incidence) {
  if (incidence.present.name.empty()) return {};
  const kir::Expr byte = kir::element(incidence.present.name, kir::name("t"));
  return {{kir::Decl{{incidence.present.type.dtype, true}, incidence.is_present, 0, {byte}}}};
}

kir::Block for_incidences(Builder& builder, const Incidence& incidence, kir::Block body) {
  const kir::Expr k = kir::name("k");
  if (incidence.is_paired) return along_pairs(incidence, std::move(body));
  const kir::Expr t = kir::name("t");
  const kir::Expr entry =
      incidence.is_padded ? kir::name("entry") : kir::element(incidence.entry.name, k);
  kir::Block declared =
      incidence.has_entries ? of_entry(builder, incidence, entry, body) : std::move(body);
  if (incidence.is_padded) return along_columns(incidence, std::move(declared));
  kir::Stmt all{kir::For{kir::Axis::serial, "k", kir::element(incidence.offset.name, t),
                         kir::element(incidence.offset.name, t + kir::integer(1)),
                         std::move(declared)}};
  if (incidence.present.name.empty()) return {std::move(all)};
  // few targets have any: the others do not read where theirs would begin
  const kir::Expr is_there = kir::less(kir::integer(0), kir::name(incidence.is_present));
  return {{kir::If{is_there, {std::move(all)}}}};
}

kir::Block load_accumulators(Builder& builder, const std::vector<std::string>& names) {
  const ir::Loop& loop = builder.request().loop;
  kir::Block block;
  const std::vector<std::size_t> args = reduced_args(loop);
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!is_first(names, i)) continue;
    const ir::IndirectDat& dat = indirect(loop, args[i]);
    append(block, for_arg(args[i], {private_array(dat.dtype, names[i], dat.dim)}));
    const bool is_zero = is_added_at_last(builder, args[i]) || ir::starts_at_zero(loop, args[i]);
    const kir::Expr start = is_zero ? kir::integer(0) : at_target(builder, args[i]);
    block.push_back(
        for_components(dat.dim, kir::element(names[i], kir::name("c")), kir::Update::set, start));
  }
  return block;
}

kir::Block store_accumulators(Builder& builder, const std::vector<std::string>& names) {
  const ir::Loop& loop = builder.request().loop;
  kir::Block block;
  const std::vector<std::size_t> args = reduced_args(loop);
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!is_first(names, i) || !ir::is_stored(loop, args[i])) continue;
    const ir::IndirectDat& dat = indirect(loop, args[i]);
    const kir::Update update =
        is_added_at_last(builder, args[i]) ? kir::Update::add : kir::Update::set;
    block.push_back(for_components(dat.dim, at_target(builder, args[i]), update,
                                   kir::element(names[i], kir::name("c"))));
  }
  return block;
}

kir::Stmt keep_share(const Builder& builder, const Incidence& incidence, std::size_t arg,
                     const std::string& accumulator, const std::string& values, const kir::Expr& at,
                     ShareFrom from) {
  const ir::Loop& loop = builder.request().loop;
  const ir::IndirectDat& dat = indirect(loop, arg);
  const SlotRange slots = slots_of(incidence, loop, dat.map);
  const Share share{values, at, slots.first, slots.arity, dat.dim};
  // A private array with a subscript that is not constant cannot live in registers: a chain of
  // selects is cheaper than the array's way through memory.
  const bool selects =
      from == ShareFrom::pack && slots.arity <= builder.request().options.tuning.selected_slots;
  const kir::Stmt add =
      for_components(dat.dim, kir::element(accumulator, kir::name("c")), update_of(dat.access),
                     selects ? selected(share) : indexed(share));
  return where_slot_is(incidence, slots, {add});
}

}  // namespace op2::lower
