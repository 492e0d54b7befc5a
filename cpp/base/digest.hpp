// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace op2 {

/// @brief XXH3-128 of @p bytes as 32 lower-case hexadecimal digits. Stable across machines.
[[nodiscard]] std::string digest(std::string_view bytes);

/// @brief XXH3-64 of @p bytes, to see whether they have changed.
[[nodiscard]] std::uint64_t fingerprint(std::span<const std::byte> bytes);

}  // namespace op2
