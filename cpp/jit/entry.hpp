// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace op2::jit {

/// @brief The bytes to append to @p payload for a cache entry with @p key.
///
/// A single file holds payload, key and footer, because one rename then replaces all three at once:
/// two files cannot be replaced together, and a crash between them would pair a key with another's
/// code. The payload comes first, so a shared object is loaded from the entry directly: the loader
/// reads the parts named by the ELF headers and ignores the rest.
[[nodiscard]] std::string entry_tail(std::string_view payload, std::string_view key);

/// @brief The payload of the entry @p file, if the file is whole and belongs to @p key.
///
/// The key is compared in full and the payload against its checksum; a file that is empty,
/// truncated, altered, foreign or of another key gives nothing.
[[nodiscard]] std::optional<std::string_view> entry_payload(std::string_view file,
                                                            std::string_view key);

}  // namespace op2::jit
