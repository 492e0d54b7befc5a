// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace op2 {

/// @brief MurmurHash3 (x64, 128 bits, seed 0) of @p bytes as 32 lower-case hexadecimal digits.
///
/// The digest is the same on all machines. Texts with the same digest can be made on purpose, so
/// whoever looks something up by a digest compares the text, too.
[[nodiscard]] std::string digest(std::string_view bytes);

}  // namespace op2
