// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "jit/gpu/library.hpp"

namespace op2::jit::nvrtc {

/// @brief The searched places of NVRTC: CUDA_HOME and CUDA_PATH, the loader's path, @p folders,
/// /usr/local/cuda; in each the newest version first.
/// @param[in] folders Of packages with NVRTC.
[[nodiscard]] std::vector<std::string> candidates(const std::vector<std::string>& folders);

/// @brief Find NVRTC.
/// @param[in] candidates See VendorLibrary.
/// @throws ToolchainError if NVRTC is missing or too old.
[[nodiscard]] gpu::Library load_library(const std::vector<std::string>& candidates);

}  // namespace op2::jit::nvrtc
