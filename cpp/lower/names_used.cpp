// SPDX-License-Identifier: BSD-3-Clause
#include "lower/names_used.hpp"

#include "base/overload.hpp"

namespace op2::lower {
namespace {

using Used = std::set<std::string>;

void add(Used& used, const kir::Expr& expr);

void add(Used& used, const std::vector<kir::Expr>& expressions) {
  for (const kir::Expr& expr : expressions) add(used, expr);
}

void add(Used& used, const kir::Expr& expr) {
  std::visit(overload{
                 [](const kir::Integer&) {},
                 [&used](const kir::Name& name) { used.insert(name.name); },
                 [&used](const kir::Element& element) {
                   used.insert(element.array);
                   add(used, element.subscript);
                 },
                 [&used](const kir::Offset& offset) {
                   used.insert(offset.array);
                   add(used, offset.subscript);
                 },
                 [&used](const kir::Binary& binary) { add(used, binary.operands); },
                 [&used](const kir::Widen& widen) { add(used, widen.operands); },
                 [&used](const kir::Minimum& minimum) { add(used, minimum.operands); },
                 [&used](const kir::Select& select) { add(used, select.operands); },
                 [&used](const kir::ScratchAt& at) { add(used, at.bytes); },
                 [&used](const kir::Shuffle& shuffle) { add(used, shuffle.operands); },
                 [&used](const kir::BlocksFor& blocks) { add(used, blocks.items); },
                 [](const kir::Stride&) {},
                 [&used](const kir::LaneOf& lane) {
                   used.insert(lane.array);
                   add(used, lane.operands);
                 },
                 [](const kir::Builtin&) {},
             },
             expr.node);
}

void add(Used& used, const kir::Rows& rows) {
  used.insert(rows.data);
  if (rows.entries.empty()) {
    if (!rows.map.empty()) used.insert(rows.map);
    add(used, rows.element);
  }
  add(used, rows.entries);
  if (!rows.columns.empty()) used.insert(rows.columns);
}

void add(Used& used, const kir::LaneRows& rows) {
  used.insert({rows.pack, rows.data});
  add(used, rows.at);
  add(used, rows.starts);
}

void add(Used& used, const kir::Entries& entries) {
  used.insert({entries.data, entries.row_start, entries.position});
  add(used, entries.element);
  if (entries.rows.empty()) used.insert(entries.row_map);
  add(used, entries.rows);
}

void add(Used& used, const kir::Block& block);

void add(Used& used, const kir::Stmt& stmt) {
  std::visit(overload{
                 [&used](const kir::Decl& decl) { add(used, decl.value); },
                 [&used](const kir::Assign& assign) {
                   add(used, assign.target);
                   add(used, assign.value);
                 },
                 [&used](const kir::Atomic& atomic) {
                   add(used, atomic.target);
                   add(used, atomic.value);
                 },
                 [&used](const kir::CallUser& call) { add(used, call.arguments); },
                 [&used](const kir::Call& call) { add(used, call.arguments); },
                 [&used](const kir::For& loop) {
                   add(used, loop.begin);
                   add(used, loop.end);
                   if (!loop.step_name.empty()) used.insert(loop.step_name);
                   add(used, loop.body);
                 },
                 [&used](const kir::If& branch) {
                   add(used, branch.condition);
                   add(used, branch.then);
                 },
                 [&used](const kir::Region& region) { add(used, region.body); },
                 [](const kir::Barrier&) {},
                 [&used](const kir::Arrive& arrive) {
                   used.insert(arrive.flag);
                   used.insert(arrive.counter);
                   add(used, arrive.n);
                 },
                 [&used](const kir::Launch& launch) {
                   add(used, launch.items);
                   add(used, launch.arguments);
                 },
                 [&used](const kir::Scratch& scratch) { add(used, scratch.extent); },
                 [&used](const kir::Gather& gather) {
                   used.insert(gather.pack);
                   add(used, gather.rows);
                 },
                 [&used](const kir::Scatter& scatter) {
                   used.insert(scatter.pack);
                   add(used, scatter.rows);
                 },
                 [&used](const kir::MatInsert& insert) {
                   used.insert(insert.pack);
                   add(used, insert.entries);
                 },
                 [&used](const kir::LaneGather& gather) { add(used, gather.rows); },
                 [&used](const kir::LaneTurn& turn) {
                   used.insert({turn.rows, turn.pack});
                   add(used, turn.at);
                 },
                 [&used](const kir::LaneStore& store) {
                   used.insert({store.data, store.rows});
                   add(used, store.start);
                   add(used, store.lane);
                 },
                 [&used](const kir::LaneAdd& sum) {
                   used.insert({sum.sum, sum.pack});
                   add(used, sum.n_live);
                 },
                 [&used](const kir::LaneShare& share) {
                   used.insert({share.sum, share.pack, share.entries});
                   add(used, share.at);
                   add(used, share.first);
                 },
                 [&used](const kir::LaneFold& fold) {
                   used.insert({fold.data, fold.pack});
                 },
             },
             stmt.node);
}

void add(Used& used, const kir::Block& block) {
  for (const kir::Stmt& stmt : block) add(used, stmt);
}

}  // namespace

std::set<std::string> names_used(const kir::Block& block) {
  Used used;
  add(used, block);
  return used;
}

}  // namespace op2::lower
