// SPDX-License-Identifier: BSD-3-Clause
#include "ir/signature.hpp"

#include <algorithm>

#include "base/canonical.hpp"
#include "base/overload.hpp"

namespace op2::ir {
namespace {

// Bump when the meaning of a field changes: old signatures must not match new code.
constexpr int signature_version = 1;

void add_scalars(Canonical& out, DType dtype, int dim) {
  out.text(name_of(dtype)).number(dim);
}

void add_alias(Canonical& out, const Alias& alias) {
  out.number(alias.data).number(alias.memory);
}

/// Only what is not as usual, so that plain loops have short signatures.
template <class Dat>
void add_place(Canonical& out, const Dat& dat) {
  if (dat.stride != 0) out.open("view").number(dat.stride).number(dat.component).close();
}

void add_stored(Canonical& out, const std::optional<DType>& stored) {
  if (stored) out.open("stored").text(name_of(*stored)).close();
}

void add(Canonical& out, const MapRef& map) {
  out.open("map").number(map.arity).number(map.toset);
  if (!map.rows.empty()) {
    out.open("rows").number(map.width);
    for (const RowRef& row : map.rows) {
      out.number(row.slot).number(row.offset).number(row.quotient).number(row.above);
    }
    out.close();
  }
  if (map.ragged) out.text("ragged");
  out.close();
}

void add(Canonical& out, const Iteration& iteration) {
  if (iteration == Iteration{}) return;
  out.open("iteration").number(iteration.subset ? 1 : 0);
  out.number(static_cast<int>(iteration.layers)).number(iteration.periodic ? 1 : 0);
  out.number(iteration.pass_layer ? 1 : 0).number(iteration.index_bytes);
  if (iteration.pass_element) out.text("element");
  out.close();
}

void add(Canonical& out, const Arg& arg) {
  std::visit(overload{
                 [&out](const DirectDat& dat) {
                   out.open("direct").text(name_of(dat.access));
                   add_scalars(out, dat.dtype, dat.dim);
                   add_alias(out, dat.alias);
                   add_place(out, dat);
                   add_stored(out, dat.stored);
                 },
                 [&out](const IndirectDat& dat) {
                   out.open("indirect").text(name_of(dat.access)).number(dat.map);
                   add_scalars(out, dat.dtype, dat.dim);
                   add_alias(out, dat.alias);
                   add_place(out, dat);
                   add_stored(out, dat.stored);
                 },
                 [&out](const GlobalRead& global) {
                   out.open("global");
                   add_scalars(out, global.dtype, global.dim);
                   add_alias(out, global.alias);
                 },
                 [&out](const GlobalReduce& global) {
                   out.open("reduce").text(name_of(global.access));
                   add_scalars(out, global.dtype, global.dim);
                   add_alias(out, global.alias);
                 },
                 [&out](const MatArg& mat) {
                   out.open("matrix").text(name_of(mat.access));
                   out.number(mat.row_map).number(mat.col_map);
                   add_scalars(out, mat.dtype, mat.row_dim);
                   out.number(mat.col_dim).flag(mat.masked).flag(mat.unrolled);
                   if (mat.by_columns) out.text("by columns");
                   add_alias(out, mat.alias);
                   add_stored(out, mat.stored);
                 },
             },
             arg);
  out.close();
}

/// Of a Group of one its kernel alone, unless something is known of its values.
void add_members(Canonical& out, const Group& group) {
  const bool is_plain = std::ranges::all_of(
      group.values, [](const Value& value) { return value.stored && !value.is_zero; });
  if (group.members.size() == 1 && group.members.front().visit == Visit::items && is_plain) {
    out.text(group.members.front().kernel->key);
    return;
  }
  for (const Member& member : group.members) {
    out.open("member").text(member.kernel->key).number(static_cast<int>(member.visit));
    for (const int constant : member.constants) out.number(constant);
    out.close();
  }
  out.open("calls").number(group.set);
  for (std::size_t i = 0; !group.values.empty() && i < group.args.size(); ++i) {
    out.number(group.args[i].member);
  }
  out.close().open("values");
  for (const Value& value : group.values) {
    out.number(value.version).flag(value.stored);
    if (value.is_zero) out.text("zero");
  }
  out.close();
}

/// As a rule argument i of a member is its parameter i.
bool has_other_parameters(const Group& group) {
  int next = 0;
  for (std::size_t i = 0; i < group.args.size(); ++i) {
    if (i > 0 && group.args[i].member != group.args[i - 1].member) next = 0;
    if (group.args[i].parameter != next++) return true;
  }
  return false;
}

}  // namespace

std::string signature(const Loop& loop) {
  Canonical out;
  out.open("loop").number(signature_version);
  add_members(out, loop);
  for (const Arg& arg : loop.args) add(out, arg);
  for (const MapRef& map : loop.maps) add(out, map);
  if (has_other_parameters(loop)) {
    out.open("parameters");
    for (const Operand& operand : loop.args) out.number(operand.parameter);
    out.close();
  }
  if (std::ranges::any_of(loop.args, [](const Operand& one) { return one.place.has_value(); })) {
    out.open("places");
    for (const Operand& operand : loop.args) {
      const Place place = operand.place.value_or(Place{});
      out.number(place.row).number(place.column).number(place.n_columns).number(place.width);
    }
    out.close();
  }
  if (std::ranges::any_of(loop.args, &Operand::is_before)) {
    out.open("before");
    for (const Operand& operand : loop.args) out.flag(operand.is_before);
    out.close();
  }
  add(out, loop.iteration);
  for (const ConstRef& constant : loop.constants) {
    out.open("const").text(constant.name);
    add_scalars(out, constant.dtype, constant.dim);
    out.close();
  }
  return out.close().str();
}

}  // namespace op2::ir
