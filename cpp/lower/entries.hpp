// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "lower/builder.hpp"
#include "lower/strategy.hpp"

namespace op2::lower {

/// @brief Whether blocks of lanes sum the matrices of their elements in shared memory before they
/// add them, and if not, why.
///
/// So on GPUs, for the whole of a Set, by plain Maps. A matrix then sees one atomic addition for
/// each block and entry, by neighbouring lanes at neighbouring places, instead of one for each
/// element and entry. Dats that the loop adds to are summed in the same way.
[[nodiscard]] Verdict sums_entries(const ir::Loop& loop, const Facts& facts,
                                   const std::vector<MapFacts>& maps, const Options& options);

/// @brief The same of a loop that adds to Dats only; not where it adds little (Widths::summed), or
/// elements can be put in an order in which lanes add side by side (Widths::scattered), if that is
/// faster.
[[nodiscard]] Verdict sums_targets(const ir::Loop& loop, const Facts& facts,
                                   const std::vector<MapFacts>& maps, const Options& options);

/// @brief `block` where sums_entries(), `atomic` where sums_targets().
void sum_in_blocks(Builder& builder);

}  // namespace op2::lower
