// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace op2::runtime::cuda {

/// @brief Which of some machine code for NVIDIA's GPUs one of them runs best: of its own generation
/// and not newer than it.
/// @param[in] capability Of the GPU: "sm_86".
/// @param[in] targets What there is code for: "sm_80".
/// @return Its place among @p targets; nothing if none fits.
[[nodiscard]] std::optional<std::size_t> fitting_image(const std::string& capability,
                                                       const std::vector<std::string>& targets);

}  // namespace op2::runtime::cuda
