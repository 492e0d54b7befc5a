// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace op2::runtime::cuda {

/// @brief PTX of the kernel that evaluates a condition and tells the graph, for any GPU. The driver
/// has the called function.
[[nodiscard]] const char* deciding_code();

}  // namespace op2::runtime::cuda
