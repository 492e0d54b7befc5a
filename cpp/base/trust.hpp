// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace op2 {

/// @brief From whom code is taken.
enum class Trust {
  own,      // files of this user alone: caches, which nobody else has a reason to write
  provided  // files of the administrator, too, and writable by the user's private group
};

/// @brief Why code at @p path may not be run: others could have put it there, or could replace it.
///
/// Looks at the owner, at who may write, and at folders above in which everyone may replace names.
/// @param path A file or a folder, absolute; links are followed.
/// @param what Words for the path in the message, such as "the cache directory".
/// @return A sentence with the owner, the rights and the command that mends them; empty if all is
/// well.
[[nodiscard]] std::string why_untrusted(const std::string& path, std::string_view what,
                                        Trust trust);

}  // namespace op2
