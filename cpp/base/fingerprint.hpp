// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace op2 {

/// @brief One to one; each bit of @p sum changes half of all others. Else changes in two sums may
/// be one another's inverse.
[[nodiscard]] inline std::uint64_t scattered(std::uint64_t sum) {
  sum = (sum ^ (sum >> 33)) * 0xff51afd7ed558ccdULL;
  sum = (sum ^ (sum >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return sum ^ (sum >> 33);
}

/// @brief A number of @p bytes, to see in this process whether they have changed.
///
/// It needs no library, so that the run-time of generated projects does not. Whatever changes in
/// one aligned word alone changes the number.
[[nodiscard]] std::uint64_t fingerprint(std::span<const std::byte> bytes);

}  // namespace op2
