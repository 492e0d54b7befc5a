// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace op2::abi {

/// @brief The memory order of columns whose number is part of a text that reads a whole row at
/// once: columns of a row side by side, [n_rows, width], or each column separately, [width,
/// n_rows].
///
/// An even number of columns side by side is read by few wide loads. Separate columns are read by
/// neighbouring lanes from neighbouring places, an advantage where columns come one by one.
/// @param[in] n_told The number of columns known to plan and text; 0: unknown.
[[nodiscard]] constexpr bool is_by_rows(int n_told) {
  return n_told > 0 && n_told % 2 == 0;
}

}  // namespace op2::abi
