// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>

namespace op2::cg {

/// @brief Words that C does not have, but a language for devices has: no name may be one.
[[nodiscard]] std::span<const std::string_view> opencl_words();
[[nodiscard]] std::span<const std::string_view> cuda_words();

/// @brief Functions that the language brings along: no function may have their names.
[[nodiscard]] std::span<const std::string_view> opencl_functions();
[[nodiscard]] std::span<const std::string_view> cuda_functions();

}  // namespace op2::cg
