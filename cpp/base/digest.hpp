// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace op2 {

/// @brief XXH3-128 of @p bytes as 32 lower-case hexadecimal digits. Stable across machines.
[[nodiscard]] std::string digest(std::string_view bytes);

}  // namespace op2
