// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace op2::cg {

/// @brief Lay out lines of C text at an indentation of @p n_spaces, one newline after each.
///
/// The indentation that all lines share is dropped and the rest kept, trailing white space and
/// blank lines at either end go, and preprocessor lines start in column 0, except pragmas, which
/// read as part of the block they stand in.
[[nodiscard]] std::string laid_out(std::string_view text, int n_spaces);

}  // namespace op2::cg
