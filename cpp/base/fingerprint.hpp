// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace op2 {

/// @brief A number of @p bytes, to see in this process whether they have changed.
///
/// It needs no library, so that the run-time of generated projects does not. Whatever changes in
/// one aligned word alone changes the number.
[[nodiscard]] std::uint64_t fingerprint(std::span<const std::byte> bytes);

}  // namespace op2
