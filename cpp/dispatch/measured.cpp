// SPDX-License-Identifier: BSD-3-Clause
#include "dispatch/measured.hpp"

#include <bit>

namespace op2::dispatch {

Measured::Key Measured::key(const std::string& kind, std::int64_t size) {
  return {kind, std::bit_width(static_cast<std::uint64_t>(size))};
}

Measured::Next Measured::next(const std::string& kind, std::int64_t size,
                              std::span<const std::string_view> ways) const {
  const auto found = known_.find(key(kind, size));
  const auto of = [&](std::string_view way) {
    if (found == known_.end()) return Way{};
    const auto known = found->second.find(way);
    return known == found->second.end() ? Way{} : known->second;
  };
  std::size_t rarest = 0;
  std::size_t fastest = 0;
  bool is_decided = true;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const Way way = of(ways[i]);
    is_decided = is_decided && way.n_calls > n_trials;
    if (way.n_calls < of(ways[rarest]).n_calls) rarest = i;
    if (way.least <= of(ways[fastest]).least) fastest = i;
  }
  return {is_decided ? fastest : rarest, is_decided};
}

void Measured::note(const std::string& kind, std::int64_t size, std::string_view way,
                    std::int64_t nanoseconds) {
  auto& ways = known_[key(kind, size)];
  auto found = ways.find(way);
  if (found == ways.end()) found = ways.try_emplace(std::string(way)).first;
  Way& one = found->second;
  if (one.n_calls > n_trials) return;  // it is decided, or will be by the others
  const bool is_first_that_counts = ++one.n_calls == 2;
  if (is_first_that_counts || (one.n_calls > 2 && nanoseconds < one.least)) one.least = nanoseconds;
}

}  // namespace op2::dispatch
