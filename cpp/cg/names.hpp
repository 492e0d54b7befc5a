// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace op2::cg {

/// @brief Whether @p text is one C identifier.
[[nodiscard]] bool is_identifier(std::string_view text);

/// @brief All identifiers in a piece of C text, in order, keywords included.
[[nodiscard]] std::vector<std::string> identifiers_in(std::string_view text);

/// @brief Identifiers that a branch header declares, e.g. `i` in `for (int i = 0; i < n; ++i)`.
///
/// An identifier directly after another one, or after the stars that follow one, is taken for a
/// declaration. `a * b` is therefore reported too, which costs a spare name and is never wrong.
[[nodiscard]] std::vector<std::string> declared_in(std::string_view header);

/// @brief Name of the function that @p header defines.
/// @throws UsageError if the header has no parameter list with a name before it.
[[nodiscard]] std::string function_name(std::string_view header);

}  // namespace op2::cg
