// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace op2::cg {

/// @brief Lines of generated text are no longer than this.
inline constexpr int most_columns = 120;

/// @brief Lines of C text, each ended by a newline, with the long ones broken where parentheses are
/// fewest: behind commas, semicolons and `=`, before operators; where there is no such place,
/// behind the last parenthesis that opens. The rest is indented by four more.
///
/// Stays as it is: what has no such place, preprocessor lines, and comments, but for those of `//`,
/// whose rest becomes a comment, too. Nothing is broken within quotes.
/// @param[in] n_more Columns that will be added to the last line.
[[nodiscard]] std::string wrapped(std::string_view text, int n_more = 0);

}  // namespace op2::cg
