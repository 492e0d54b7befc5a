// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace op2::runtime::opencl {

/// @brief What stands for a program where the driver keeps what it has compiled by itself, or
/// nobody has compiled it yet: its text.
///
/// PoCL compiles a kernel when it is first launched, for blocks of that size, and caches that.
/// Asked for a binary it compiles every kernel once more, for blocks of any size: 0.3 s of CPU time
/// each for code that runs more slowly.
struct KnownText {
  std::string options;
  std::string source;
};

/// @brief Bytes that known_text() tells from a binary; what Device::load() takes.
[[nodiscard]] std::string bytes_of(const KnownText& text);

/// @brief Whether programs of a platform are known by their texts for that.
[[nodiscard]] bool keeps_programs(std::string_view platform);

/// @brief The text in what bytes_of() returned; none if that is a binary.
[[nodiscard]] std::optional<KnownText> known_text(const std::string& bytes);

}  // namespace op2::runtime::opencl
