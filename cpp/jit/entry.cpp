// SPDX-License-Identifier: BSD-3-Clause
#include "jit/entry.hpp"

#include <fmt/format.h>

#include "base/digest.hpp"

namespace op2::jit {
namespace {

constexpr std::string_view magic = "op2-jit-entry-1\n";

/// What ends every entry; fixed width, so that it is found from the file's end.
std::string footer(std::string_view payload, std::string_view key) {
  return fmt::format("{}{:016x}{:016x}{}", magic, payload.size(), key.size(), digest(payload));
}

}  // namespace

std::string entry_tail(std::string_view payload, std::string_view key) {
  std::string tail(key);
  tail += footer(payload, key);
  return tail;
}

std::optional<std::string_view> entry_payload(std::string_view file, std::string_view key) {
  constexpr std::size_t footer_size = magic.size() + 16 + 16 + 32;
  if (file.size() < footer_size + key.size()) return std::nullopt;
  const std::size_t payload_size = file.size() - footer_size - key.size();
  const std::string_view payload = file.substr(0, payload_size);
  if (file.substr(payload_size, key.size()) != key) return std::nullopt;
  // The expected footer is known in full: nothing of the file needs to be parsed, or trusted.
  if (file.substr(payload_size + key.size()) != footer(payload, key)) return std::nullopt;
  return payload;
}

}  // namespace op2::jit
