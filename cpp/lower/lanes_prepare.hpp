// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/tuning.hpp"
#include "kernel/body.hpp"

namespace op2::lower {

/// @brief @p body in the shape that retyping for lanes wants; what it computes stays the same.
///
/// It is plain (kernel::plain()); a `switch` whose cases do not run into each other
/// is a chain of Ifs; an early `return` outside loops becomes the other branch of its If, so that
/// functions return at their end. What does not fit is left as it is.
[[nodiscard]] kernel::KernelBody prepared_for_lanes(kernel::KernelBody body,
                                                    const Tuning& tuning = {});

}  // namespace op2::lower
