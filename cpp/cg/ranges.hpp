// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernel/body.hpp"

namespace op2::cg {

/// @brief What hides a number from the optimiser; the prelude `ranges` says how.
inline constexpr const char* hides_range = "op2_any";

/// @brief Whether hide_ranges() changes @p body.
[[nodiscard]] bool has_ranges_to_hide(const kernel::KernelBody& body);

/// @brief Hide the numbers that decide between more than two ways from the optimiser.
///
/// If it knew that the cases of a `switch`, or of a row of `if`s, are all that there can be, as
/// those of `x & 1`, it would mark the way beside them as one that is never taken. PoCL up to 5
/// takes such a mark for an end of the kernel, and lets some elements run more than once, or not
/// at all (docs/adr/0073-ranges.md).
void hide_ranges(kernel::KernelBody& body);

}  // namespace op2::cg
