// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kir/nodes.hpp"

namespace op2::kir {

/// @brief Check that the lanes of a block wait for each other: between two statements that may
/// touch one element from two lanes, at least one of them writing, there is a Barrier on every
/// path, also from one iteration of a loop to the next. And all lanes get to every Barrier.
///
/// - Arrays of Storage::block are checked whole. The elements of two accesses are compared as sums
///   of multiples of indices with known ranges; two accesses of one lane need no Barrier.
/// - Arrays of the function's parameters are checked where lanes of a block reach them through a
///   table (a Map, a plan's list): what one lane wrote another one sees behind a Barrier of global
///   memory, or behind one after Arrive. Of one table, entries of different iterations of a block
///   belong to different elements; that their targets differ, or not, decided on the strategy.
///
/// Loops are taken to run at least once: no block of a plan is empty, and none has no colours.
/// One *turn* is an iteration of a loop over lanes, or a branch that lanes take or not. Within a
/// turn lanes reach no common element through tables: the plan's colours promise that. Iterations
/// of a loop over the grid are independent of each other by definition; those of a loop over
/// blocks are in global memory.
/// @throws InternalError naming the function, both statements and the array.
void verify_barriers(const Function& function);

}  // namespace op2::kir
