// SPDX-License-Identifier: BSD-3-Clause
#include "chain/at_once.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace op2::chain {

std::size_t AtOnce::Hash::operator()(const Line& line) const {
  constexpr std::size_t factor = 31;
  const auto rest = static_cast<std::size_t>(line.at) * factor;
  return (std::hash<const void*>{}(line.code) + rest) * factor +
         static_cast<std::size_t>(line.passes);
}

void AtOnce::set(const Line& line, std::int64_t n_blocks, std::int64_t epoch) {
  left_[line] = {n_blocks, epoch};
}

std::int64_t AtOnce::left(const Line& line) const {
  const auto found = left_.find(line);
  return found == left_.end() ? 0 : found->second.n_blocks;
}

bool AtOnce::take(const Line& line, std::int64_t epoch) {
  const auto found = left_.find(line);
  if (found == left_.end() || found->second.n_blocks == 0 || found->second.epoch != epoch)
    return false;
  --found->second.n_blocks;
  return true;
}

}  // namespace op2::chain
