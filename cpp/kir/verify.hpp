// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kir/nodes.hpp"

namespace op2::kir {

/// @brief Check that @p module is a program, after any pass:
///
/// - every name is declared before it is used, and none hides another one but a loop's index that
///   of an outer loop;
/// - subscripts, bounds and conditions are indices; what is stored has the type of its place, which
///   is not const; packs are as long as the rows that fill them;
/// - calls and launches match their functions, and functions use lanes that they have;
/// - a statement is for an argument that the loop has, or for none;
/// - lanes of a block wait for each other where they share memory (kir/verify_barriers.hpp).
///
/// Passes rename, merge and move statements, and know variables by name: this is what keeps them
/// from taking one for another.
/// @throws InternalError naming the function, the statement and what is wrong.
///
/// @param[in] waits Whether barriers are checked; lower::verify_after() says when.
void verify(const Module& module, bool waits = true);

/// @brief True if only nodes that dialects print are left.
[[nodiscard]] bool is_expanded(const Module& module);

}  // namespace op2::kir
