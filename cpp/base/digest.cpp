// SPDX-License-Identifier: BSD-3-Clause
#include "base/digest.hpp"

#include <fmt/format.h>

#define XXH_INLINE_ALL  // header-only use: nothing to link
#include <xxhash.h>

namespace op2 {

std::string digest(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace op2
