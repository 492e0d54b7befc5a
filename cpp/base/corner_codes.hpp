// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>

namespace op2::abi {

/// The meaning of a byte of PlanArray::corners for an element and its target: bit 0 is set if an
/// entry of the element is none of the target's, so all are to be looked up; otherwise the next
/// corner_bits() bits for each entry give the entry's number among the target's.

/// @brief Bits that tell the entries of a target apart.
/// @param[in] n_corners The number of entries, 1 or more.
[[nodiscard]] constexpr int corner_bits(int n_corners) {
  return std::bit_width(static_cast<unsigned>(n_corners) - 1U);
}

/// @brief Whether a byte is enough for an element of @p n_entries.
[[nodiscard]] constexpr bool fits_corner_code(int n_entries, int n_corners) {
  return n_corners > 0 && 1 + n_entries * corner_bits(n_corners) <= 8;
}

/// @brief The value of bit @p bit of entry @p entry within such a byte.
[[nodiscard]] constexpr std::int64_t corner_bit(int entry, int bit, int n_corners) {
  return std::int64_t{1} << (1 + entry * corner_bits(n_corners) + bit);
}

}  // namespace op2::abi
