// SPDX-License-Identifier: BSD-3-Clause
#include "base/digest.hpp"

#include <fmt/format.h>

#define XXH_INLINE_ALL  // header-only use: nothing to link
#include <xxhash.h>

namespace op2 {

Canonical& Canonical::text(std::string_view value) {
  out_ += fmt::format("s{}:{}", value.size(), value);
  return *this;
}

Canonical& Canonical::number(std::int64_t value) {
  const std::string digits = fmt::format("{}", value);
  out_ += fmt::format("n{}:{}", digits.size(), digits);
  return *this;
}

Canonical& Canonical::open(std::string_view name) {
  out_ += fmt::format("({}:{}", name.size(), name);
  return *this;
}

Canonical& Canonical::close() {
  out_ += ')';
  return *this;
}

std::string digest(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace op2
