// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace op2::runtime::opencl {

/// @brief A program's text in place of a binary, where the driver keeps compiled programs by
/// itself, or nobody has compiled the program yet.
///
/// PoCL compiles a kernel at the first launch, for blocks of the launched size, and caches the
/// result. Asked for a binary, PoCL compiles every kernel once more, for blocks of any size: 0.3 s
/// of CPU time each for slower code.
struct KnownText {
  std::string options;
  std::string source;
};

/// @brief Bytes that known_text() tells from a binary; input of Device::load().
[[nodiscard]] std::string bytes_of(const KnownText& text);

/// @brief Whether texts stand for programs on a platform.
[[nodiscard]] bool keeps_programs(std::string_view platform);

/// @brief The text in a result of bytes_of(); none for a binary.
[[nodiscard]] std::optional<KnownText> known_text(const std::string& bytes);

}  // namespace op2::runtime::opencl
