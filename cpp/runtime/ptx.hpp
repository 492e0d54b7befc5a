// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace op2::runtime {

/// @brief The program with every -c that CUDA's assembler may get wrong computed as ~c + 1, or
/// nothing if there is none.
///
/// The assembler sees no negation in ~c + 1. Two faults are known:
/// - `neg.s16`: for GPUs before compute capability 10.0, the assembler extends the operand to 32
///   bits and negates afterwards. The 16-bit value -32768 then becomes 32768, so `(uint16_t)(signed
///   char)-v` is 128 instead of 65408 for v = 128.
/// - `neg.s32`: from compute capability 9.0 on, the assembler joins two signed minima or maxima
///   into one instruction of three operands and drops a negation: max(a, max(b, -c)) becomes max(a,
///   b, c).
///
/// Seen with CUDA 13.0 (tests in tests/cpp/runtime/test_ptx.cpp; measured on an H200).
/// @param[in] ptx An instruction a line, as printed by NVRTC and NVIDIA's OpenCL; in other text
/// nothing is found.
[[nodiscard]] std::optional<std::string> with_signs_kept(std::string_view ptx);

}  // namespace op2::runtime
