// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "lower/builder.hpp"

namespace op2::lower {

/// @brief The part of the lanes of columns that must have an incidence for going by slot to pay
/// (docs/notebook). What is known of the Maps' values decides then: Options::by_slot.
[[nodiscard]] double least_fill(const ir::Loop& loop, const Tuning& tuning);

/// @brief `owner` on lanes, one target a lane, in groups of as many targets. Their sums stay in
/// vectors; all lanes of a column add what the same slot of their elements has, and Maps are read
/// in the columns' order.
///
/// Of a Group each member that is visited by incidences has columns of its own, of the same targets
/// on the same lanes; the other members go over these targets between the columns. The loop must be
/// ir::inverted.
///
/// A target's sum goes by slot, then by element. Leaves a For{vector} to the pass that puts loops
/// on lanes.
void invert_by_slot(Builder& builder);

}  // namespace op2::lower
