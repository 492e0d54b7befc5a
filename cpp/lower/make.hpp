// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "kir/nodes.hpp"

namespace op2::lower {

/// Pieces of KernelIR that passes make again and again.

/// @brief A constant index in 64 bits.
[[nodiscard]] inline kir::VariableType index_type() {
  return {DType::int64, true, false};
}
/// @brief The integer of @p bytes that plans and Maps keep indices in: 4 or 8.
[[nodiscard]] inline DType index_dtype(int bytes) {
  return bytes == 4 ? DType::int32 : DType::int64;
}
/// @brief The lane that runs this, among those of its block.
[[nodiscard]] inline kir::Expr lane_id() {
  return kir::builtin(kir::Builtin::lane_id);
}
/// @brief `const long name = value;`
[[nodiscard]] kir::Stmt index_decl(std::string name, kir::Expr value);
/// @brief A number that a launch hands over.
[[nodiscard]] kir::Parameter number(std::string name);
/// @brief A private array. C has none of length zero, so that of no scalars has one, and its
/// address can be handed on.
[[nodiscard]] kir::Stmt private_array(DType dtype, std::string name, int extent,
                                      bool starts_at_zero = false);
/// @brief `for (index = 0; index < n; ++index) body`
[[nodiscard]] kir::Stmt serial(std::string index, int n, kir::Block body);
/// @brief The same over components, `c`.
[[nodiscard]] kir::Stmt for_components(int n, kir::Block body);
/// @brief `target op= value` for components [0, n), which both say in terms of `c`: one statement
/// until `expand`.
[[nodiscard]] kir::Stmt for_components(int n, kir::Expr target, kir::Update update,
                                       kir::Expr value);
/// @brief @p block, each statement of which says that it is for argument @p arg of the loop.
[[nodiscard]] kir::Block for_arg(std::size_t arg, kir::Block block);

/// @brief The lanes of the vectors @p pack combined with the @p n numbers of @p data.
[[nodiscard]] kir::Stmt folded(const std::string& data, const std::string& pack,
                               const kir::VariableType& vectors, int n, kir::Update update);
/// @brief @p n vectors of numbers @p dtype as @p vectors of another type.
[[nodiscard]] kir::Stmt converted_vectors(const std::string& to, const std::string& from,
                                          const kir::VariableType& vectors, int n, DType dtype);
/// @brief @p block with what it does said before its first statement.
[[nodiscard]] kir::Block commented(std::string comment, kir::Block block);
/// @brief @p more behind the statements of @p out.
void append(kir::Block& out, kir::Block more);
/// @brief @p expr with @p by for the variable @p name.
[[nodiscard]] kir::Expr with(const kir::Expr& expr, const std::string& name, const kir::Expr& by);
/// @brief True if the user's kernel is called anywhere in @p block.
[[nodiscard]] bool calls_kernel(const kir::Block& block);

}  // namespace op2::lower
