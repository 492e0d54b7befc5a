// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include "base/overload.hpp"
#include "lower/passes.hpp"

namespace op2::lower {
namespace {

bool is_index(const kir::VariableType& type) {
  return type.dtype == DType::int64 && !type.is_pointer;
}

void narrow(kir::Expr& expr);

void narrow(std::vector<kir::Expr>& expressions) {
  for (kir::Expr& expr : expressions) narrow(expr);
}

void narrow(kir::Expr& expr) {
  if (auto* widen = std::get_if<kir::Widen>(&expr.node)) {
    kir::Expr operand = std::move(widen->operands.front());
    expr = std::move(operand);
    return narrow(expr);
  }
  std::visit(overload{
                 [](kir::Integer&) {},
                 [](kir::Name&) {},
                 [](kir::Element& element) { narrow(element.subscript); },
                 [](kir::Offset& offset) { narrow(offset.subscript); },
                 [](kir::Binary& binary) { narrow(binary.operands); },
                 [](kir::Widen&) {},
                 [](kir::Minimum& minimum) { narrow(minimum.operands); },
                 [](kir::Select& select) { narrow(select.operands); },
                 [](kir::ScratchAt& at) { narrow(at.bytes); },
                 [](kir::Shuffle& shuffle) { narrow(shuffle.operands); },
                 [](kir::Stride&) {},
                 [](kir::LaneOf& lane) { narrow(lane.operands); },
                 [](kir::BlocksFor& blocks) { narrow(blocks.items); },
                 [](kir::Builtin&) {},
             },
             expr.node);
}

}  // namespace

kir::Block narrow(kir::Block block) {
  for (kir::Stmt& stmt : block) {
    std::visit(overload{
                   [](kir::Decl& decl) {
                     narrow(decl.value);
                     if (is_index(decl.type) && decl.extent == 0 && decl.type.is_const) {
                       decl.type.dtype = DType::int32;
                     }
                   },
                   [](kir::Assign& assign) {
                     narrow(assign.target);
                     narrow(assign.value);
                   },
                   [](kir::Atomic& atomic) {
                     narrow(atomic.target);
                     narrow(atomic.value);
                   },
                   [](kir::CallUser& call) { narrow(call.arguments); },
                   [](kir::Call& call) { narrow(call.arguments); },
                   [](kir::For& loop) {
                     narrow(loop.begin);
                     narrow(loop.end);
                     loop.index_type = DType::int32;
                     loop.body = narrow(std::move(loop.body));
                   },
                   [](kir::If& branch) {
                     narrow(branch.condition);
                     branch.then = narrow(std::move(branch.then));
                   },
                   [](kir::Region& region) { region.body = narrow(std::move(region.body)); },
                   [](kir::Barrier&) {},
                   [](kir::Arrive& arrive) { narrow(arrive.n); },
                   [](kir::Launch&) {},
                   [](kir::Scratch&) {},
                   [](kir::Gather&) {},
                   [](kir::Scatter&) {},
                   [](kir::MatInsert&) {},
                   // never on a grid
                   [](kir::LaneGather&) {},
                   [](kir::LaneTurn&) {},
                   [](kir::LaneStore&) {},
                   [](kir::LaneAdd&) {},
                   [](kir::LaneShare&) {},
                   [](kir::LaneFold&) {},
               },
               stmt.node);
  }
  return block;
}

}  // namespace op2::lower
