// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace op2::runtime {

/// @brief The same program with every -c of 32 bits computed as ~c + 1, or nothing if no sign of
/// it could be lost.
///
/// From compute capability 9.0 on, CUDA's assembler joins two signed minima or maxima into one
/// instruction of three operands. Up to CUDA 13.3 it forgets there that one of them was negated:
/// max(a, max(b, -c)) becomes max(a, b, c). It does not see a negation in ~c + 1.
/// @param[in] ptx One instruction a line, as NVRTC and NVIDIA's OpenCL print it; nothing is found
/// in what is not PTX.
[[nodiscard]] std::optional<std::string> with_signs_kept(std::string_view ptx);

}  // namespace op2::runtime
