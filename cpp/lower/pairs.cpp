// SPDX-License-Identifier: BSD-3-Clause
#include "lower/pairs.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/column_layout.hpp"
#include "ir/group.hpp"
#include "lower/composed.hpp"
#include "lower/corners.hpp"
#include "lower/make.hpp"
#include "lower/rows.hpp"

namespace op2::lower {
namespace {

const ir::MapRef& path_of(const ir::Loop& loop, int map) {
  return loop.maps[static_cast<std::size_t>(map)];
}

/// Targets that an element leads to by Maps other than the one that is inverted; nothing if the
/// member does what columns cannot serve.
std::optional<int> n_composed(const ir::Loop& loop, int inverted, std::size_t member) {
  std::set<int> seen{inverted};
  int n = 0;
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    if (ir::member_of(loop, i) != member) continue;
    if (ir::is_summed(loop, i) && std::holds_alternative<ir::IndirectDat>(loop.args[i])) continue;
    if (std::holds_alternative<ir::GlobalRead>(loop.args[i])) continue;
    const ir::IndirectDat* dat = read_through_map(loop.args[i]);
    if (dat == nullptr || !is_plain(path_of(loop, dat->map))) return std::nullopt;
    if (seen.insert(dat->map).second) n += path_of(loop, dat->map).arity;
  }
  return n;
}

/// The rows of both targets in the order of the slots.
kir::Block in_order(const kir::Gather& gather, const std::string& own, const std::string& other) {
  const int dim = gather.rows.dim;
  const kir::Expr c = kir::name("c");
  const kir::Expr is_first = kir::equal(kir::name("o"), kir::integer(0));
  const auto row = [&](int slot, const std::string& then, const std::string& otherwise) {
    return for_components(dim, kir::element(gather.pack, kir::integer(slot * dim) + c),
                          kir::Update::set,
                          kir::select(is_first, kir::element(then, c), kir::element(otherwise, c)));
  };
  return {row(0, own, other), row(1, other, own)};
}

/// Where target `t` has its entry of column `k`.
kir::Expr at_column(const Incidence& incidence) {
  const int n_told = incidence.pairs.n_columns;
  if (abi::is_by_rows(n_told)) return kir::name("t") * kir::integer(n_told) + kir::name("k");
  return kir::name("k") * kir::name(incidence.n_rows.name) + kir::name("t");
}

/// `const unsigned name = array[...]` for the column at hand.
kir::Stmt code_decl(const PairArrays& arrays, const kir::Parameter& array, const std::string& name,
                    DType dtype) {
  const bool is_ahead = arrays.n_columns > 0;
  const std::string& from = is_ahead ? arrays.fetched.at(array.name) : array.name;
  return {
      kir::Decl{{dtype, true}, name, 0, {kir::element(from, kir::name(is_ahead ? "k" : "at"))}}};
}

/// A loop over the columns: as many as compilers are told, side by side, or one after the other.
kir::Stmt over_pair_columns(const Incidence& incidence, kir::Block body) {
  const int n = incidence.pairs.n_columns;
  kir::For columns{kir::Axis::serial, "k", kir::integer(0),
                   n > 0 ? kir::integer(n) : kir::name(incidence.n_columns.name), std::move(body)};
  columns.unrolled = std::max(n, 1);
  return {std::move(columns)};
}

/// Columns that are read before any is computed: statements, and where other Maps lead from the
/// element of column `k`.
struct Prefetched {
  kir::Block statements;
  std::map<int, std::vector<kir::Expr>> rows;
};

Prefetched prefetched(const Builder& builder, const Incidence& incidence) {
  const PairArrays& arrays = incidence.pairs;
  Prefetched out;
  kir::Block column{index_decl("at", at_column(incidence))};
  const auto fetch = [&](const kir::Parameter& array, int arity, DType dtype) {
    const std::string name = arrays.fetched.at(array.name);
    out.statements.push_back({kir::Decl{{dtype}, name, arrays.n_columns * arity, {}}});
    for (int slot = 0; slot < arity; ++slot) {
      const auto place = [&](const std::string& index) {
        const kir::Expr row = kir::name(index) * kir::integer(arity);
        return slot == 0 ? row : row + kir::integer(slot);
      };
      column.push_back({kir::Assign{kir::element(name, place("k")), kir::Update::set,
                                    kir::element(array.name, place("at"))}});
    }
  };
  const bool is_ahead = arrays.n_columns > 0;
  if (is_ahead) fetch(arrays.neighbours, 1, arrays.neighbours.type.dtype);
  for (const auto& [map, array] : arrays.rows) {
    const int arity = path_of(builder.request().loop, map).arity;
    if (const auto found = arrays.corners.find(map); found != arrays.corners.end()) {
      // as bytes they would be masked before each use
      if (is_ahead) fetch(found->second.codes, 1, DType::uint32);
      for (int slot = 0; slot < arity; ++slot) {
        out.rows[map].push_back(
            kir::widen(kir::element(found->second.entries, kir::integer(slot))));
      }
      continue;
    }
    if (is_ahead) fetch(array, arity, array.type.dtype);
    for (int slot = 0; slot < arity; ++slot) {
      const kir::Expr row = kir::name(is_ahead ? "k" : "at") * kir::integer(arity);
      const kir::Expr entry = slot == 0 ? row : row + kir::integer(slot);
      out.rows[map].push_back(
          kir::widen(kir::element(is_ahead ? arrays.fetched.at(array.name) : array.name, entry)));
    }
  }
  if (is_ahead) out.statements.push_back(over_pair_columns(incidence, std::move(column)));
  return out;
}

}  // namespace

kir::Block single_row(const kir::Rows& rows, const std::string& name, const kir::Expr& target) {
  return {private_array(rows.dtype, name, rows.dim), {kir::Gather{name, one_row(rows, target)}}};
}

bool is_plain(const ir::MapRef& path) {
  return path.rows.empty() && (path.width == 0 || path.width == path.arity);
}

namespace {

/// Conditions on any device.
bool leads_to_pairs(const Request& request, std::size_t member) {
  const ir::Loop& loop = request.loop;
  const int most = request.options.tuning.composed_targets;
  if (most == 0 || !ir::is_inverted(loop) || !is_over_whole_set(loop.iteration)) return false;
  const std::vector<int> maps = reduced_maps(loop, member);
  if (maps.size() != 1) return false;
  const ir::MapRef& path = path_of(loop, maps.front());
  const bool is_partial = request.maps[static_cast<std::size_t>(maps.front())].has_negative;
  if (path.arity != 2 || !is_plain(path) || is_partial) return false;
  const std::optional<int> n = n_composed(loop, maps.front(), member);
  return n && *n <= most;
}

}  // namespace

bool visits_pairs(const Request& request, std::size_t member) {
  return class_of(request.facts) == DeviceClass::gpu && leads_to_pairs(request, member);
}

bool visits_pairs_on_lanes(const Request& request) {
  const ir::Loop& loop = request.loop;
  if (class_of(request.facts) != DeviceClass::host || !ir::is_inverted(loop)) return false;
  const std::size_t member = ir::inverted_members(loop).front();
  if (!leads_to_pairs(request, member)) return false;
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const ir::Arg& arg = loop.args[i];
    if (std::holds_alternative<ir::GlobalReduce>(arg) && ir::is_at_incidences(loop, i))
      return false;
    if (ir::member_of(loop, i) != member) continue;
    if (is_complex(ir::dtype_of(arg))) return false;
    if (writes(ir::access_of(arg)) && ir::access_of(arg) != Access::inc) return false;
  }
  return true;
}

PairArrays add_pair_arrays(Builder& builder, int inverted, std::size_t member) {
  const Request& request = builder.request();
  const ir::Loop& loop = request.loop;
  auto& plan = std::get<abi::PairsPlan>(builder.module().plan);
  plan.composed.bytes = request.options.widths.target_bytes;
  PairArrays arrays;
  const DType code = request.options.widths.entry_bytes == 4 ? DType::uint32 : DType::uint64;
  arrays.neighbours = builder.plan_array(kir::PlanArray::neighbours, "neighbour", code);
  int n_indices = 1;
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const ir::IndirectDat* dat = read_through_map(loop.args[i]);
    const bool is_composed = dat != nullptr && ir::member_of(loop, i) == member &&
                             dat->map != inverted && !arrays.rows.contains(dat->map);
    if (!is_composed) continue;
    plan.composed.maps.push_back(dat->map);
    arrays.rows[dat->map] =
        builder.plan_array(kir::PlanArray::composed_rows, builder.packed().args[i].map + "_rows",
                           index_dtype(request.options.widths.target_bytes));
    const auto& corners = request.options.corners;
    const auto found = std::ranges::find(corners, dat->map, &abi::CornerMaps::of_elements);
    const bool is_picked = found != corners.end();
    if (is_picked) {
      arrays.corners[dat->map] = add_corners(builder, i, *found, arrays.rows.at(dat->map));
    }
    n_indices += is_picked ? 1 : path_of(loop, dat->map).arity;
  }
  const int columns = request.options.widths.columns;
  if (columns * n_indices <= request.options.tuning.prefetched_indices) {
    arrays.n_columns = plan.columns = columns;
  }
  const auto note = [&builder, &arrays](const kir::Parameter& array) {
    arrays.fetched[array.name] = builder.packed().names.take(array.name + "_fetched");
  };
  note(arrays.neighbours);
  for (const auto& [map, array] : arrays.rows) {
    const auto found = arrays.corners.find(map);
    note(found == arrays.corners.end() ? array : found->second.codes);
  }
  return arrays;
}

kir::Block load_pairs(Builder& builder, const Incidence& incidence, std::size_t member) {
  const ir::Loop& loop = builder.request().loop;
  const Prefetched fetched = prefetched(builder, incidence);
  kir::Block before;
  for (const auto& [map, corners] : incidence.pairs.corners) append(before, own_entries(corners));
  append(before, fetched.statements);
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const ir::IndirectDat* dat = read_through_map(loop.args[i]);
    PackedArg& packed = builder.packed().args[i];
    if (dat == nullptr || ir::member_of(loop, i) != member || packed.load.empty()) continue;
    auto gather = std::get<kir::Gather>(packed.load.front().node);
    if (dat->map != incidence.maps.front()) {
      list_rows(gather.rows, fetched.rows.at(dat->map));
      packed.load = {{std::move(gather)}};
      continue;
    }
    const std::string own = builder.packed().names.take(gather.pack + "_own");
    const std::string other = builder.packed().names.take(gather.pack + "_other");
    append(before, for_arg(i, single_row(gather.rows, own, own_target())));
    packed.load = single_row(gather.rows, other, kir::name("across"));
    append(packed.load, in_order(gather, own, other));
  }
  return before;
}

kir::Block along_pairs(const Incidence& incidence, kir::Block body) {
  const PairArrays& arrays = incidence.pairs;
  const bool is_ahead = arrays.n_columns > 0;
  const kir::Expr two = kir::integer(2);
  kir::Block column;
  if (!is_ahead) column.push_back(index_decl("at", at_column(incidence)));
  column.push_back(code_decl(arrays, arrays.neighbours, "code", arrays.neighbours.type.dtype));
  column.push_back(index_decl("across", kir::name("code") / kir::integer(4)));
  column.push_back(index_decl("o", kir::name("code") / two % two));
  for (const auto& [map, corners] : arrays.corners) {
    column.push_back(code_decl(arrays, corners.codes, corners.code, DType::uint32));
    append(column, pick_entries(corners, is_ahead ? at_column(incidence) : kir::name("at")));
  }
  append(column, std::move(body));
  return {over_pair_columns(incidence, std::move(column))};
}

kir::Block where_is_pair(kir::Block body) {
  const kir::Expr hole = kir::name("code") % kir::integer(2);
  return {{kir::If{kir::equal(hole, kir::integer(0)), std::move(body)}}};
}

void bound_registers(Builder& builder) {
  const int n_lanes = builder.request().options.tuning.resident_lanes;
  const int bounded_lanes = builder.request().options.tuning.bounded_lanes;
  for (kir::Function& function : builder.module().functions) {
    if (!function.is_kernel || n_lanes < bounded_lanes) continue;
    function.max_lanes = bounded_lanes;
    function.least_blocks = n_lanes / bounded_lanes;
  }
}

}  // namespace op2::lower
