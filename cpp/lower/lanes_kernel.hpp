// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/tuning.hpp"
#include "kernel/body.hpp"

namespace op2::lower {

/// @brief A kernel that computes several elements side by side, or the reason for none.
struct KernelOnLanes {
  std::optional<kernel::KernelBody> body;
  std::string why;  ///< empty if there is a body
};

/// @brief Retype @p body: every value that depends on the element becomes a vector of @p lanes
/// values (whole-function vectorisation).
///
/// Branches on data become masks (predication): both sides run, and assignments blend. Values
/// common to all elements, and tables, stay scalar. Helper functions are retyped once for each
/// pattern of arguments. Functions over lanes are called by the names of kernel/lane_functions.hpp.
///
/// @param[in] varies For each parameter of the entry function: does it point to values by element?
[[nodiscard]] KernelOnLanes kernel_on_lanes(const kernel::KernelBody& body,
                                            const std::vector<bool>& varies, int lanes,
                                            const Tuning& tuning = {});

}  // namespace op2::lower
