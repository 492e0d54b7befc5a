// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/opencl/known_text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

namespace op2::runtime::opencl {
namespace {

constexpr std::string_view text_mark = "op2 known text\n";

}  // namespace

std::string bytes_of(const KnownText& text) {
  return fmt::format("{}{}\n{}", text_mark, text.options, text.source);
}

bool keeps_programs(std::string_view platform) {
  return platform == "Portable Computing Language";
}

std::optional<KnownText> known_text(const std::string& bytes) {
  if (!bytes.starts_with(text_mark)) return std::nullopt;
  const std::size_t end = bytes.find('\n', text_mark.size());
  if (end == std::string::npos) return std::nullopt;
  return KnownText{bytes.substr(text_mark.size(), end - text_mark.size()), bytes.substr(end + 1)};
}

}  // namespace op2::runtime::opencl
