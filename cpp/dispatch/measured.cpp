// SPDX-License-Identifier: BSD-3-Clause
#include "dispatch/measured.hpp"

#include <bit>
#include <utility>
#include <vector>

namespace op2::dispatch {
namespace {

TrialRules rules(std::size_t preferred) {
  return {.n_each = Measured::n_trials, .n_warm = 1, .preferred = preferred};
}

}  // namespace

Measured::Key Measured::key(const std::string& kind, std::int64_t size) {
  return {kind, std::bit_width(static_cast<std::uint64_t>(size))};
}

Measured::Next Measured::next(const std::string& kind, std::int64_t size,
                              std::span<const std::string_view> ways) const {
  const auto found = known_.find(key(kind, size));
  std::vector<Trial::Arm> arms(ways.size());
  for (std::size_t i = 0; found != known_.end() && i < ways.size(); ++i) {
    const auto known = found->second.find(ways[i]);
    if (known != found->second.end()) arms[i] = known->second;
  }
  const Trial trial(std::move(arms), rules(ways.size() - 1));
  return {trial.next(), trial.is_decided()};
}

void Measured::note(const std::string& kind, std::int64_t size, std::string_view way,
                    std::int64_t nanoseconds) {
  auto& ways = known_[key(kind, size)];
  auto found = ways.find(way);
  if (found == ways.end()) found = ways.try_emplace(std::string(way)).first;
  Trial trial({found->second}, rules(0));
  trial.note(0, static_cast<double>(nanoseconds));
  found->second = trial.arm(0);
}

}  // namespace op2::dispatch
