// SPDX-License-Identifier: BSD-3-Clause
#include "lower/composed.hpp"

#include <algorithm>
#include <utility>

#include "ir/group.hpp"
#include "lower/make.hpp"
#include "lower/pairs.hpp"
#include "lower/rows.hpp"

namespace op2::lower {
namespace {

int arity_of(const ir::Loop& loop, int map) {
  return loop.maps[static_cast<std::size_t>(map)].arity;
}

/// Where the plan has the incidence at hand.
kir::Expr place_of(const Incidence& incidence, const kir::Expr& column) {
  if (!incidence.is_padded) return column;
  return column * kir::name(incidence.n_rows.name) + kir::name("t");
}

kir::Expr entry_at(const ComposedArray& rows, const kir::Expr& place, int slot) {
  const kir::Expr first = rows.arity == 1 ? place : place * kir::integer(rows.arity);
  return kir::element(rows.rows.name, slot == 0 ? first : first + kir::integer(slot));
}

/// True for the Map whose first entry has told whether there is an incidence.
bool is_leading(const Incidence& incidence, int map) {
  return incidence.is_padded && !incidence.has_entries && incidence.composed.begin()->first == map;
}

}  // namespace

const ir::IndirectDat* read_through_map(const ir::Arg& arg) {
  const auto* dat = std::get_if<ir::IndirectDat>(&arg);
  return dat != nullptr && dat->access == Access::read ? dat : nullptr;
}

bool is_over_whole_set(const ir::Iteration& iteration) {
  return !iteration.subset && iteration.layers == ir::Layers::none && !iteration.pass_layer &&
         !iteration.pass_element;
}

std::optional<Composition> composition_of(const Request& request, std::size_t member) {
  const ir::Loop& loop = request.loop;
  const std::vector<int> targets = reduced_maps(loop, member);
  if (class_of(request.facts) != DeviceClass::gpu || !ir::is_inverted(loop) ||
      !is_over_whole_set(loop.iteration) || targets.size() != 1 ||
      arity_of(loop, targets.front()) != 1) {
    return std::nullopt;
  }
  Composition out;
  int n = 0;
  bool reads_target = false;
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    if (ir::member_of(loop, i) != member || std::holds_alternative<ir::GlobalRead>(loop.args[i])) {
      continue;
    }
    if (ir::is_summed(loop, i) && std::holds_alternative<ir::IndirectDat>(loop.args[i])) continue;
    const ir::IndirectDat* dat = read_through_map(loop.args[i]);
    if (dat == nullptr) {
      out.needs_elements = true;
    } else if (dat->map == targets.front()) {
      reads_target = true;
    } else if (std::ranges::find(out.maps, dat->map) == out.maps.end()) {
      out.maps.push_back(dat->map);
      n += arity_of(loop, dat->map);
    }
  }
  const bool is_idle = out.maps.empty() && !reads_target;
  if (is_idle || n > request.options.tuning.composed_targets) return std::nullopt;
  out.needs_elements |= out.maps.empty();
  return out;
}

void add_composed(Builder& builder, Incidence& incidence, const Composition& composition,
                  std::size_t member) {
  const ir::Loop& loop = builder.request().loop;
  for (const int map : composition.maps) {
    for (std::size_t i = 0; i < loop.args.size(); ++i) {
      if (ir::member_of(loop, i) != member || ir::target_map_of(loop.args[i]) != map) continue;
      const DType index = index_dtype(builder.request().options.widths.target_bytes);
      incidence.composed[map] = {builder.plan_array(kir::PlanArray::composed_rows,
                                                    builder.packed().args[i].map + "_rows", index),
                                 arity_of(loop, map)};
      break;
    }
  }
}

kir::Block load_composed(Builder& builder, const Incidence& incidence, std::size_t member) {
  const ir::Loop& loop = builder.request().loop;
  kir::Block before;
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const ir::IndirectDat* dat = read_through_map(loop.args[i]);
    PackedArg& packed = builder.packed().args[i];
    if (dat == nullptr || ir::member_of(loop, i) != member || packed.load.empty()) continue;
    auto gather = std::get<kir::Gather>(packed.load.front().node);
    if (const auto found = incidence.composed.find(dat->map); found != incidence.composed.end()) {
      std::vector<kir::Expr> rows;
      for (int slot = 0; slot < found->second.arity; ++slot) {
        const kir::Expr place = place_of(incidence, kir::name("k"));
        rows.push_back(kir::widen(entry_at(found->second, place, slot)));
      }
      if (is_leading(incidence, dat->map)) rows.front() = kir::name("entry");
      list_rows(gather.rows, std::move(rows));
      packed.load = {{std::move(gather)}};
    } else if (dat->map == incidence.maps.front()) {
      const std::string own = builder.packed().names.take(gather.pack + "_own");
      const kir::Expr c = kir::name("c");
      append(before, for_arg(i, single_row(gather.rows, own, own_target())));
      packed.load = {for_components(gather.rows.dim, kir::element(gather.pack, c), kir::Update::set,
                                    kir::element(own, c))};
    }
  }
  return before;
}

kir::Expr leading_entry(const Incidence& incidence, const kir::Expr& column) {
  return entry_at(incidence.composed.begin()->second, place_of(incidence, column), 0);
}

}  // namespace op2::lower
