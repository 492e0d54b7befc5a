// SPDX-License-Identifier: BSD-3-Clause
#include "kir/instructions.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace op2::kir {
namespace {

constexpr OperandRow index{Operand::index}, indices{Operand::indices}, numbers{Operand::numbers},
    vectors{Operand::vectors}, rows{Operand::rows};

constexpr OperandRow set(const OperandRow& row) {
  return {row.kind, true};
}

using I = Instruction;
constexpr InstructionRow table[] = {
    {I::arrive, Scope::block, {set(index), set(indices), index}, "arrive {0} of {2} at {1}"},
    {I::fetch, Scope::any, {set(indices), indices}, "fetch {n} {0} from {at1}"},
    {I::lane_gather,
     Scope::vectors,
     {set(vectors), numbers},
     "gather lanes of {type} {at0} x{n}, rows at {rest}",
     /*each_lane=*/true},
    {I::lane_read,
     Scope::vectors,
     {set(vectors), numbers, index},
     "{at0} = lanes at {at1}, {2} live lanes"},
    {I::lane_write,
     Scope::vectors,
     {set(numbers), vectors, index},
     "lanes at {at0} = {at1}, {2} live lanes"},
    {I::lane_turn, Scope::vectors, {set(rows), vectors}, "{0} = rows of {at1} x{n}"},
    {I::lane_store, Scope::vectors, {set(numbers), rows, index}, "{at0} x{n} {op} {1}[{2}]"},
    {I::lane_add,
     Scope::vectors,
     {set(vectors), vectors, index},
     "{0} += {1} x{n}, {2} live lanes"},
    {I::lane_share,
     Scope::vectors,
     {set(vectors), vectors, indices},
     "{0} {op} {at1} x{n} where {at2} >= 0"},
    {I::lane_pick,
     Scope::vectors,
     {set(vectors), indices, vectors, vectors},
     "{at0} = {at2} or {at3} x{n} by slot {at1}"},
    {I::lane_pick_share,
     Scope::vectors,
     {set(vectors), indices, vectors, vectors},
     "{at0} += {at2} or {at3} x{n} by slot {at1}"},
    {I::lane_fold, Scope::vectors, {set(numbers), vectors}, "{0} {op} lanes of {1} x{n}"},
    {I::lane_convert, Scope::vectors, {set(vectors), rows}, "{0} = {1} as {type} x{n}"},
};

}  // namespace

std::size_t InstructionRow::n_operands() const {
  return operands.size() -
         static_cast<std::size_t>(std::ranges::count(operands, Operand::none, &OperandRow::kind));
}

const InstructionRow& row_of(Instruction name) {
  return *std::ranges::find(table, name, &InstructionRow::name);
}

bool is_instruction(const Stmt& stmt, Instruction name) {
  const auto* intrinsic = std::get_if<Intrinsic>(&stmt.node);
  return intrinsic != nullptr && intrinsic->name == name;
}

bool has_scope(const Stmt& stmt, Scope scope) {
  const auto* intrinsic = std::get_if<Intrinsic>(&stmt.node);
  return intrinsic != nullptr && row_of(intrinsic->name).scope == scope;
}

const OperandRow& operand_of(Instruction name, std::size_t i) {
  const InstructionRow& row = row_of(name);
  return row.operands.at(std::min(i, row.n_operands() - 1));
}

Element element_at(const Expr& address) {
  if (const auto* offset = std::get_if<Offset>(&address.node)) {
    return {offset->array, offset->subscript};
  }
  const auto* array = std::get_if<Name>(&address.node);
  if (array == nullptr) throw InternalError("an instruction's operand is no address");
  return {array->name, {integer(0)}};
}

}  // namespace op2::kir
