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

void Measured::learn(const std::string& kind, int size, const std::string& way,
                     double nanoseconds) {
  known_[{kind, size}][way] = {rules(0).n_warm + n_trials, nanoseconds};
}

std::vector<Measured::Decided> Measured::decided() const {
  std::vector<Decided> found;
  for (const auto& [key, ways] : known_) {
    Decided one{key.first, key.second, {}};
    for (const auto& [way, arm] : ways) {
      if (arm.n < rules(0).n_warm + n_trials || !arm.shortest) break;
      one.nanoseconds[way] = *arm.shortest;
    }
    if (ways.size() > 1 && one.nanoseconds.size() == ways.size()) found.push_back(std::move(one));
  }
  return found;
}

}  // namespace op2::dispatch
