// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "lower/builder.hpp"
#include "lower/strategy.hpp"

namespace op2::lower {

/// @brief Whether blocks of lanes sum the matrices of their elements in shared memory before they
/// add them, and if not, why.
///
/// So on GPUs whose loops assemble matrices and sum nothing else: the whole of a Set, by plain
/// Maps. A matrix then sees one atomic addition for each block and entry, by neighbouring lanes at
/// neighbouring places, instead of one for each element and entry.
[[nodiscard]] Verdict sums_entries(const ir::Loop& loop, const Facts& facts,
                                   const std::vector<MapFacts>& maps, const Options& options);

/// @brief `block` where sums_entries().
void sum_entries(Builder& builder);

}  // namespace op2::lower
