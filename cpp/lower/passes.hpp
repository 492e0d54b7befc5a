// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kir/nodes.hpp"
#include "lower/builder.hpp"

namespace op2::lower {

// Strategy passes: each turns the strategy-neutral body of one element into wrapper and launch.
// They stand after `pack`, because they move gathers and scatters about, and before `legalise`,
// because they still speak of threads.

/// @brief `direct` and `atomic`: every lane takes a range of elements; scatters are made atomic
/// if races are possible.
void lay_out_elements(Builder& builder);

/// @brief Each lane fetches its element's row of a Map once, past the caches, which are left to the
/// values that the entries lead to.
void fetch_entries(Builder& builder);

/// @brief True if neighbouring lanes can share the rows of a scatter: they exchange registers, and
/// rows have several components. Rows of the elements themselves must be wide.
[[nodiscard]] bool can_transpose(const kir::Scatter& scatter, const Facts& facts,
                                 const Tuning& tuning);

/// @brief True for rows of the elements themselves, without a Map, from a number of bytes on: lanes
/// with a row each would read memory in pieces too small for a transaction.
[[nodiscard]] bool is_wide(const kir::Rows& rows, const Facts& facts, const Tuning& tuning);

/// @brief The loads of wide rows: neighbouring lanes load consecutive scalars, and exchange them.
///
/// All lanes of a warp must get here; those for which @p is_element is false load nothing.
[[nodiscard]] kir::Block loaded_together(const kir::Gather& gather, const kir::Expr& is_element,
                                         Names& names, const Tuning& tuning);

/// @brief The scatter's statements with rows and components transposed between neighbouring lanes:
/// they add consecutive scalars of one row at a time, which is one transaction instead of many.
///
/// All lanes of a warp must get here; those for which @p is_element is false have nothing to add.
[[nodiscard]] kir::Block transposed(const kir::Scatter& scatter, const kir::Expr& is_element,
                                    Names& names, const Tuning& tuning);

/// @brief On a grid, what Maps cannot tell apart: all elements in order, on one lane.
void run_in_order(Builder& builder);

/// @brief `block` on a grid that is a CPU: a block of elements is for one thread, as on the host.
void launch_blocks(Builder& builder);

/// @brief `block`: colours one after the other, the blocks of a colour over the lanes, the
/// elements of a block in order.
void colour_blocks(Builder& builder);

/// @brief `block` on a grid: one block of lanes for each block of elements. Increments are summed
/// in memory that the lanes share, one thread colour after the other, and added to the targets at
/// last; what has to see earlier elements' results runs whole in that order.
void stage_blocks(Builder& builder);

/// @brief `team`: an element a block, whose lanes share its sums; see kernel::team_form().
void lay_out_team(Builder& builder);

/// @brief `colour`: colours one after the other, the elements of a colour over the lanes.
void colour_elements(Builder& builder);

/// @brief `owner` (gather by target): a Group with a member visited by incidences. One item a
/// target; the item computes the kernel again for every incident element and keeps the target's
/// share. Work of other members for the target comes before and after.
void invert(Builder& builder);

/// @brief `scratch` (two-phase scatter): element results to scratch memory, then one item a target
/// sums its share.
void sum_from_scratch(Builder& builder);

/// @brief On a grid: give every lane a value of its own of each Global that is reduced, combine
/// those of a block as a tree in shared memory, and the results of the blocks in a last launch. The
/// Global never leaves the device. Deterministic: a fixed tree over fixed chunks of items.
///
/// Stands after the strategy, which decides on the launches that have to be combined.
void reduce(Builder& builder);

/// @brief Replace what the backend does not have: a team of threads on a backend of one lane, and
/// neighbouring lanes that run at the same time: where they take turns, each gets consecutive
/// items.
[[nodiscard]] kir::Block legalise(kir::Block block, const Facts& facts);

/// @brief Index arithmetic in 32 bits, for functions of a grid whose loop is known to be small
/// enough: devices have few units for wider numbers. After `expand`, which makes the indices.
[[nodiscard]] kir::Block narrow(kir::Block block);

/// @brief Rewrite Gather, Scatter and min/max assignments into loops, stores and Ifs, so
/// that dialects print few kinds of statement. Last but for
/// `narrow`.
[[nodiscard]] kir::Block expand(kir::Block block, const Tuning& tuning);

}  // namespace op2::lower
