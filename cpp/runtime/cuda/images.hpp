// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace op2::runtime::cuda {

/// @brief The best of some machine code for a GPU of NVIDIA: of the GPU's own generation and not
/// newer than the GPU.
/// @param[in] capability Of the GPU: "sm_86".
/// @param[in] targets The targets with code: "sm_80".
/// @return The place among @p targets; nothing if none fits.
[[nodiscard]] std::optional<std::size_t> fitting_image(const std::string& capability,
                                                       const std::vector<std::string>& targets);

}  // namespace op2::runtime::cuda
