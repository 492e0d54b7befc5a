// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "lower/incidence.hpp"

namespace op2::lower {

/// Visits by incidences where elements lead to two targets each, as edges do: a GPU then reads
/// columns that say where the other target is, and where other Maps lead from the element. Nothing
/// has to be looked up first, the target's own rows are loaded once, and where a column has no
/// incidence another one is computed in vain, so that the loads of several columns come together.

/// @brief True if each element has its own row of the Map, and nothing else.
[[nodiscard]] bool is_plain(const ir::MapRef& path);

/// @brief Whether a member of a Group can be visited so: it does nothing else than reading through
/// Maps and Globals and adding to the two targets.
[[nodiscard]] bool visits_pairs(const Request& request, std::size_t member);

/// @brief Whether the first visited member of a Group can be visited so by lanes of a processor,
/// and nothing else is in the way: sums only add real numbers, and Globals are reduced by members
/// for the target itself.
[[nodiscard]] bool visits_pairs_on_lanes(const Request& request);

/// @brief One row of memory in a private array @p name.
[[nodiscard]] kir::Block single_row(const kir::Rows& rows, const std::string& name,
                                    const kir::Expr& target);

/// @brief Ask the plan for the columns: the other targets, and the rows of those Maps that a member
/// reads through, but for @p inverted.
[[nodiscard]] PairArrays add_pair_arrays(Builder& builder, int inverted, std::size_t member);

/// @brief Let the member load from the columns. Returns what comes before them: the target's own
/// rows, and the columns themselves if they are read ahead.
[[nodiscard]] kir::Block load_pairs(Builder& builder, const Incidence& incidence,
                                    std::size_t member);

/// @brief Loop over the columns of target `t` with `o`, the own slot, and `across`, the other
/// target, declared around @p body.
[[nodiscard]] kir::Block along_pairs(const Incidence& incidence, kir::Block body);

/// @brief @p body where the column has an incidence.
[[nodiscard]] kir::Block where_is_pair(kir::Block body);

/// @brief Keep compilers from using so many registers that a multiprocessor holds few blocks.
void bound_registers(Builder& builder);

}  // namespace op2::lower
