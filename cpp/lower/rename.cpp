// SPDX-License-Identifier: BSD-3-Clause
#include "lower/rename.hpp"

#include <vector>

#include "base/overload.hpp"

namespace op2::lower {
namespace {

class Renaming {
 public:
  Renaming(const std::string& from, const std::string& to) : from_(from), to_(to) {}

  void block(kir::Block& statements) const {
    for (kir::Stmt& stmt : statements) statement(stmt);
  }

 private:
  void text(std::string& name) const {
    if (name == from_) name = to_;
  }

  void list(std::vector<kir::Expr>& expressions) const {
    for (kir::Expr& expr : expressions) expression(expr);
  }

  void expression(kir::Expr& expr) const {
    std::visit(overload{
                   [](kir::Integer&) {},
                   [this](kir::Name& name) { text(name.name); },
                   [this](kir::Element& element) {
                     text(element.array);
                     list(element.subscript);
                   },
                   [this](kir::Offset& offset) {
                     text(offset.array);
                     list(offset.subscript);
                   },
                   [this](kir::Binary& binary) { list(binary.operands); },
                   [this](kir::Widen& widen) { list(widen.operands); },
                   [this](kir::Minimum& minimum) { list(minimum.operands); },
                   [this](kir::Select& select) { list(select.operands); },
                   [this](kir::ScratchAt& at) { list(at.bytes); },
                   [this](kir::Shuffle& shuffle) { list(shuffle.operands); },
                   [this](kir::BlocksFor& blocks) { list(blocks.items); },
                   [](kir::Stride&) {},
                   [this](kir::LaneOf& lane) {
                     text(lane.array);
                     list(lane.operands);
                   },
                   [](kir::Builtin&) {},
               },
               expr.node);
  }

  void rows(kir::Rows& rows) const {
    text(rows.data);
    text(rows.map);
    text(rows.columns);
    expression(rows.element);
    list(rows.entries);
  }

  void entries(kir::Entries& entries) const {
    text(entries.data);
    text(entries.row_map);
    text(entries.row_start);
    text(entries.position);
    expression(entries.element);
    list(entries.rows);
  }

  void rows(kir::LaneRows& rows) const {
    text(rows.pack);
    text(rows.data);
    expression(rows.at);
    list(rows.starts);
  }

  void statement(kir::Stmt& stmt) const {
    std::visit(overload{
                   [this](kir::Decl& decl) {
                     text(decl.name);
                     list(decl.value);
                   },
                   [this](kir::Assign& assign) {
                     expression(assign.target);
                     expression(assign.value);
                   },
                   [this](kir::Atomic& atomic) {
                     expression(atomic.target);
                     expression(atomic.value);
                   },
                   [this](kir::CallUser& call) { list(call.arguments); },
                   [this](kir::Call& call) { list(call.arguments); },
                   [this](kir::For& loop) {
                     text(loop.index);
                     text(loop.step_name);
                     expression(loop.begin);
                     expression(loop.end);
                     block(loop.body);
                   },
                   [this](kir::If& branch) {
                     expression(branch.condition);
                     block(branch.then);
                   },
                   [this](kir::Region& region) { block(region.body); },
                   [](kir::Barrier&) {},
                   [this](kir::Arrive& arrive) {
                     text(arrive.flag);
                     text(arrive.counter);
                     expression(arrive.n);
                   },
                   [this](kir::Launch& launch) {
                     expression(launch.items);
                     list(launch.arguments);
                   },
                   [this](kir::Scratch& scratch) {
                     text(scratch.name);
                     expression(scratch.extent);
                   },
                   [this](kir::Gather& gather) {
                     text(gather.pack);
                     rows(gather.rows);
                   },
                   [this](kir::Scatter& scatter) {
                     text(scatter.pack);
                     rows(scatter.rows);
                   },
                   [this](kir::MatInsert& insert) {
                     text(insert.pack);
                     entries(insert.entries);
                   },
                   [this](kir::LaneGather& gather) { rows(gather.rows); },
                   [this](kir::LaneTurn& turn) {
                     text(turn.rows);
                     text(turn.pack);
                     expression(turn.at);
                   },
                   [this](kir::LaneStore& store) {
                     text(store.data);
                     text(store.rows);
                     expression(store.start);
                     expression(store.lane);
                   },
                   [this](kir::LaneAdd& add) {
                     text(add.sum);
                     text(add.pack);
                     expression(add.n_live);
                   },
                   [this](kir::LaneShare& share) {
                     text(share.sum);
                     text(share.pack);
                     expression(share.at);
                     text(share.entries);
                     expression(share.first);
                   },
                   [this](kir::LaneFold& fold) {
                     text(fold.data);
                     text(fold.pack);
                   },
               },
               stmt.node);
  }

  const std::string& from_;
  const std::string& to_;
};

}  // namespace

void rename(kir::Block& block, const std::string& from, const std::string& to) {
  Renaming(from, to).block(block);
}

}  // namespace op2::lower
