// SPDX-License-Identifier: BSD-3-Clause
#include "lower/corners.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/corner_codes.hpp"
#include "ir/group.hpp"
#include "lower/make.hpp"
#include "lower/pairs.hpp"

namespace op2::lower {
namespace {

const ir::MapRef& path_by(const ir::Loop& loop, int map) {
  return loop.maps[static_cast<std::size_t>(map)];
}

bool is_read_through_map(const ir::Loop& loop, std::size_t arg) {
  const auto* dat = std::get_if<ir::IndirectDat>(&loop.args[arg]);
  return dat != nullptr && dat->access == Access::read;
}

/// What forbids it for all that @p arg reads.
std::string why_no_columns(const Request& request, std::size_t arg) {
  const ir::Loop& loop = request.loop;
  const std::size_t first = ir::inverted_members(loop).front();
  const bool is_gpu = class_of(request.facts) == DeviceClass::gpu;
  if (is_gpu ? request.options.lanes > 1 : !request.options.by_pairs) {
    return "elements are not in columns of neighbours";
  }
  if (!request.options.widths.padded) {
    return "targets have too different numbers of elements for columns of neighbours";
  }
  if (ir::member_of(loop, arg) != first) {
    return fmt::format("only the elements of '{}' are in columns of neighbours",
                       loop.members[first].kernel->name);
  }
  if (is_gpu && !visits_pairs(request, first)) {
    return fmt::format("'{}' does more than what columns of neighbours are for",
                       ir::kernel_of(loop, arg).name);
  }
  return "";
}

std::string why_no_code(const ir::MapRef& of_elements, const ir::MapRef& of_targets) {
  if (!is_plain(of_targets)) return "the targets have a part of the Map";
  if (!abi::fits_corner_code(of_elements.arity, of_targets.arity)) {
    return fmt::format("a byte does not tell which {} of {} entries it is", of_elements.arity,
                       of_targets.arity);
  }
  return "";
}

/// One of the target's entries from @p first on, by bits [0, n_bits) for entry @p entry.
kir::Expr picked(const CornerArray& corners, int entry, int first, int n_bits) {
  if (n_bits == 0) return kir::element(corners.own, kir::integer(first));
  const int middle = first + (1 << (n_bits - 1));
  kir::Expr lower = picked(corners, entry, first, n_bits - 1);
  if (middle >= corners.n_corners) return lower;
  const std::int64_t place = abi::corner_bit(entry, n_bits - 1, corners.n_corners);
  const kir::Expr bit = kir::name(corners.code) / kir::integer(place) % kir::integer(2);
  return kir::select(kir::equal(bit, kir::integer(0)), std::move(lower),
                     picked(corners, entry, middle, n_bits - 1));
}

kir::Stmt entry_is(const CornerArray& corners, int entry, kir::Expr value) {
  return {kir::Assign{kir::element(corners.entries, kir::integer(entry)), kir::Update::set,
                      std::move(value)}};
}

}  // namespace

std::vector<CornerCandidate> corner_candidates(const Request& request) {
  const ir::Loop& loop = request.loop;
  std::vector<CornerCandidate> found;
  std::set<std::pair<std::size_t, int>> seen;
  for (std::size_t arg = 0; arg < loop.args.size(); ++arg) {
    if (!is_read_through_map(loop, arg) || !ir::is_at_incidences(loop, arg)) continue;
    const int map = ir::target_map_of(loop.args[arg]);
    const std::size_t member = ir::member_of(loop, arg);
    const std::vector<int> inverted = reduced_maps(loop, member);
    const bool is_to_targets = std::ranges::find(inverted, map) != inverted.end();
    if (is_to_targets || !seen.insert({member, map}).second) continue;
    std::set<int> of_targets;
    for (std::size_t own = 0; own < loop.args.size(); ++own) {
      if (!is_read_through_map(loop, own) || ir::is_at_incidences(loop, own)) continue;
      const int other = ir::target_map_of(loop.args[own]);
      const bool is_to_same = path_by(loop, other).toset == path_by(loop, map).toset;
      if (!is_to_same || !of_targets.insert(other).second) continue;
      std::string why_not = why_no_columns(request, arg);
      if (why_not.empty()) why_not = why_no_code(path_by(loop, map), path_by(loop, other));
      if (why_not.empty() && request.options.by_pairs && !same_rows(loop, arg, {map, other})) {
        why_not = "the targets read other Dats by it";
      }
      found.push_back({{map, other}, std::move(why_not)});
    }
  }
  return found;
}

std::optional<std::size_t> same_rows(const ir::Loop& loop, std::size_t arg,
                                     const abi::CornerMaps& maps) {
  const auto& dat = std::get<ir::IndirectDat>(loop.args[arg]);
  if (!is_read_through_map(loop, arg) || ir::is_part(loop, arg)) return std::nullopt;
  for (std::size_t own = 0; own < loop.args.size(); ++own) {
    if (!is_read_through_map(loop, own) || ir::is_at_incidences(loop, own)) continue;
    const auto& other = std::get<ir::IndirectDat>(loop.args[own]);
    const bool is_same = other.alias.data == dat.alias.data && other.dim == dat.dim &&
                         other.stride == dat.stride && other.component == dat.component &&
                         other.dtype == dat.dtype && other.stored == dat.stored;
    if (is_same && other.map == maps.of_targets && !ir::is_part(loop, own)) return own;
  }
  return std::nullopt;
}

CornerArray add_corners(Builder& builder, std::size_t arg, const abi::CornerMaps& maps,
                        const kir::Parameter& rows) {
  const ir::Loop& loop = builder.request().loop;
  const std::string name = builder.packed().args[arg].map;
  Names& names = builder.packed().names;
  std::size_t own_arg = 0;
  while (ir::target_map_of(loop.args[own_arg]) != maps.of_targets) ++own_arg;
  std::get<abi::PairsPlan>(builder.module().plan).corners.push_back(maps);
  CornerArray out;
  out.codes = builder.plan_array(kir::PlanArray::corners, name + "_corner", DType::uint8);
  out.rows = rows;
  out.own_map = builder.packed().args[own_arg].map;
  out.n_entries = path_by(loop, maps.of_elements).arity;
  out.n_corners = path_by(loop, maps.of_targets).arity;
  out.own = names.take(name + "_own");
  out.code = names.take(name + "_code");
  out.entries = names.take(name + "_entry");
  return out;
}

kir::Block own_entries(const CornerArray& corners) {
  kir::Block out{{kir::Decl{{corners.rows.type.dtype}, corners.own, corners.n_corners, {}}}};
  for (int corner = 0; corner < corners.n_corners; ++corner) {
    const kir::Expr at = own_target() * kir::integer(corners.n_corners) + kir::integer(corner);
    out.push_back({kir::Assign{kir::element(corners.own, kir::integer(corner)), kir::Update::set,
                               kir::element(corners.own_map, at)}});
  }
  return out;
}

kir::Block pick_entries(const CornerArray& corners, const kir::Expr& at) {
  kir::Block out{{kir::Decl{{corners.rows.type.dtype}, corners.entries, corners.n_entries, {}}}};
  kir::Block looked_up;
  for (int entry = 0; entry < corners.n_entries; ++entry) {
    const int n_bits = abi::corner_bits(corners.n_corners);
    out.push_back(entry_is(corners, entry, picked(corners, entry, 0, n_bits)));
    const kir::Expr row = at * kir::integer(corners.n_entries) + kir::integer(entry);
    looked_up.push_back(entry_is(corners, entry, kir::element(corners.rows.name, row)));
  }
  const kir::Expr is_elsewhere =
      kir::equal(kir::name(corners.code) % kir::integer(2), kir::integer(1));
  out.push_back({kir::If{is_elsewhere, std::move(looked_up)}});
  return out;
}

}  // namespace op2::lower
