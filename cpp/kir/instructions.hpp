// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "kir/nodes.hpp"

namespace op2::kir {

/// What is known of each instruction: one row. Walk, verifier and dump ask it, and know none by
/// name; a new instruction is a row here and a printer in cg/lanes.cpp.

/// @brief What an operand has to be.
enum class Operand : std::uint8_t {
  none,
  index,    ///< an index, or a variable of that kind
  indices,  ///< where an array of indices lies: its name, or an address within it
  numbers,  ///< the same of numbers of the statement's type
  vectors,  ///< ... of vectors of its type and lanes
  rows,     ///< ... of vectors of any kind
};

/// @brief Where it can run.
enum class Scope : std::uint8_t {
  any,
  block,    ///< lanes of a block, on a grid
  vectors,  ///< a loop whose values are vectors
};

struct OperandRow {
  Operand kind = Operand::none;
  bool is_written = false;
};

struct InstructionRow {
  Instruction name;
  Scope scope;
  std::array<OperandRow, 4> operands;
  /// For dump(), in terms of the operands: as they are, `{0}`, and as elements, `{at0}`; of all
  /// from the second on, `{rest}`; and of what the statement says besides: `{n}`, `{op}`, `{type}`.
  std::string_view text;
  bool each_lane = false;  ///< the last operand comes once a lane
  [[nodiscard]] std::size_t n_operands() const;
};

[[nodiscard]] const InstructionRow& row_of(Instruction name);

/// @brief True if @p stmt is the instruction @p name.
[[nodiscard]] bool is_instruction(const Stmt& stmt, Instruction name);

/// @brief True if @p stmt is an instruction of this scope.
[[nodiscard]] bool has_scope(const Stmt& stmt, Scope scope);

/// @brief What operand number @p i is.
[[nodiscard]] const OperandRow& operand_of(Instruction name, std::size_t i);

/// @brief The element that an address leads to: `array[at]` of `array + at`.
/// @throws InternalError if @p address is neither a name nor an offset.
[[nodiscard]] Element element_at(const Expr& address);

}  // namespace op2::kir
