// SPDX-License-Identifier: BSD-3-Clause
#include "lower/replace.hpp"

#include <utility>

#include "base/error.hpp"
#include "base/overload.hpp"

namespace op2::lower {
namespace {

[[noreturn]] kir::Stmt hidden(const char* node) {
  throw InternalError(std::string("replaced() meets a ") + node + ", which hides its expressions");
}

kir::Stmt replaced(const kir::Stmt& stmt, const Replacement& by) {
  const auto of = [&by](const kir::Expr& expr) { return lower::replaced(expr, by); };
  const auto all = [&of](std::vector<kir::Expr> list) {
    for (kir::Expr& expr : list) expr = of(expr);
    return list;
  };
  return std::visit(
      overload{
          [&](const kir::Decl& decl) -> kir::Stmt {
            kir::Decl out = decl;
            out.value = all(decl.value);
            return {std::move(out)};
          },
          [&](const kir::Assign& assign) -> kir::Stmt {
            return {kir::Assign{of(assign.target), assign.update, of(assign.value)}};
          },
          [&](const kir::Atomic& atomic) -> kir::Stmt {
            return {kir::Atomic{atomic.dtype, of(atomic.target), atomic.update, of(atomic.value)}};
          },
          [&](const kir::For& loop) -> kir::Stmt {
            kir::For out = loop;
            out.begin = of(loop.begin);
            out.end = of(loop.end);
            out.body = lower::replaced(loop.body, by);
            return {std::move(out)};
          },
          [&](const kir::If& branch) -> kir::Stmt {
            return {kir::If{of(branch.condition), lower::replaced(branch.then, by)}};
          },
          [](const kir::CallUser&) { return hidden("call of the kernel"); },
          [](const kir::Call&) { return hidden("call"); },
          [](const kir::Region&) { return hidden("region"); },
          [](const kir::Barrier&) { return hidden("barrier"); },
          [](const kir::Arrive&) { return hidden("arrival of a block"); },
          [](const kir::Launch&) { return hidden("launch"); },
          [](const kir::Scratch&) { return hidden("piece of scratch"); },
          [](const kir::Gather&) { return hidden("gather"); },
          [](const kir::Scatter&) { return hidden("scatter"); },
          [](const kir::MatInsert&) { return hidden("insert"); },
          [](const kir::LaneGather&) { return hidden("gather into lanes"); },
          [](const kir::LaneTurn&) { return hidden("transposition of lanes"); },
          [](const kir::LaneStore&) { return hidden("store of a lane"); },
          [](const kir::LaneAdd&) { return hidden("sum of lanes"); },
          [](const kir::LaneShare&) { return hidden("share of lanes"); },
          [](const kir::LaneFold&) { return hidden("sum over lanes"); },
      },
      stmt.node);
}

}  // namespace

kir::Expr replaced(const kir::Expr& expr, const Replacement& by) {
  if (std::optional<kir::Expr> found = by(expr)) return std::move(*found);
  const auto all = [&by](std::vector<kir::Expr> operands) {
    for (kir::Expr& operand : operands) operand = replaced(operand, by);
    return operands;
  };
  return std::visit(
      overload{
          [&](const kir::Integer&) { return expr; },
          [&](const kir::Name&) { return expr; },
          [&](const kir::Element& node) {
            return kir::Expr{kir::Element{node.array, all(node.subscript)}};
          },
          [&](const kir::Offset& node) {
            return kir::Expr{kir::Offset{node.array, all(node.subscript)}};
          },
          [&](const kir::Binary& node) {
            std::vector<kir::Expr> operands = all(node.operands);
            if (node.op == kir::BinaryOp::add) return operands[0] + operands[1];
            if (node.op == kir::BinaryOp::multiply) return operands[0] * operands[1];
            return kir::Expr{kir::Binary{node.op, std::move(operands)}};
          },
          [&](const kir::Widen& node) { return kir::Expr{kir::Widen{all(node.operands)}}; },
          [&](const kir::Minimum& node) { return kir::Expr{kir::Minimum{all(node.operands)}}; },
          [&](const kir::Select& node) { return kir::Expr{kir::Select{all(node.operands)}}; },
          [&](const kir::ScratchAt& node) { return kir::Expr{kir::ScratchAt{all(node.bytes)}}; },
          [&](const kir::Shuffle& node) {
            return kir::Expr{kir::Shuffle{all(node.operands), node.width}};
          },
          [&](const kir::BlocksFor& node) { return kir::Expr{kir::BlocksFor{all(node.items)}}; },
          [&](const kir::Stride&) { return expr; },
          [&](const kir::LaneOf& node) {
            return kir::Expr{kir::LaneOf{node.array, all(node.operands)}};
          },
          [&](const kir::Builtin&) { return expr; },
      },
      expr.node);
}

kir::Block replaced(const kir::Block& block, const Replacement& by) {
  kir::Block out;
  out.reserve(block.size());
  for (const kir::Stmt& stmt : block) out.push_back(replaced(stmt, by));
  return out;
}

}  // namespace op2::lower
