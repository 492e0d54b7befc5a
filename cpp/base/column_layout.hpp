// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace op2::abi {

/// @brief How columns lie in memory whose number is part of a text, which reads all of a row at
/// once: whether those of a row stand side by side, [n_rows, width], or each column by itself,
/// [width, n_rows].
///
/// An even number of them is read by few wide loads side by side. Each by itself is read by
/// neighbouring lanes from neighbouring places, which matters where columns come one by one.
/// @param[in] n_told The number of columns that plan and text were told; 0: none was.
[[nodiscard]] constexpr bool is_by_rows(int n_told) {
  return n_told > 0 && n_told % 2 == 0;
}

}  // namespace op2::abi
