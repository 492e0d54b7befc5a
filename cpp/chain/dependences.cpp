// SPDX-License-Identifier: BSD-3-Clause
#include "chain/dependences.hpp"

#include <algorithm>
#include <map>

namespace op2::chain {
namespace {

using ir::Arg;

/// Who uses the same values so may change places: both read, or both add, or both lower, or both
/// raise them, and do nothing else with them.
constexpr bool may_change_places(Access left, Access right) {
  if (!writes(left) && !writes(right)) return true;
  return is_reduction(left) && left == right;
}

}  // namespace

void LoopSet::insert_all(const LoopSet& other) {
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
}

void LoopSet::erase_all(const LoopSet& other) {
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
}

bool LoopSet::meets(const LoopSet& other) const {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if ((words_[i] & other.words_[i]) != 0) return true;
  }
  return false;
}

bool LoopSet::is_within(const LoopSet& other) const {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if ((words_[i] & ~other.words_[i]) != 0) return false;
  }
  return true;
}

bool depends(const ir::Loop& earlier, const ir::Loop& later) {
  return std::ranges::any_of(earlier.args, [&](const Arg& left) {
    return std::ranges::any_of(later.args, [&](const Arg& right) {
      return alias_of(left).memory == alias_of(right).memory &&
             !may_change_places(access_of(left), access_of(right));
    });
  });
}

std::vector<LoopSet> all_dependences(const std::vector<const ir::Loop*>& chain) {
  std::map<int, std::map<Access, LoopSet>> users;  // by memory
  std::vector<LoopSet> out(chain.size(), LoopSet(chain.size()));
  for (std::size_t loop = 0; loop < chain.size(); ++loop) {
    for (const Arg& arg : chain[loop]->args) {
      for (const auto& [access, loops] : users[alias_of(arg).memory]) {
        if (!may_change_places(access, access_of(arg))) out[loop].insert_all(loops);
      }
    }
    for (const Arg& arg : chain[loop]->args) {
      auto& known = users[alias_of(arg).memory];
      known.try_emplace(access_of(arg), chain.size()).first->second.insert(loop);
    }
  }
  return out;
}

Groups::Group Groups::made_of(const std::vector<std::size_t>& loops) const {
  Group out{LoopSet(needs_.size()), LoopSet(needs_.size())};
  for (const std::size_t loop : loops) {
    out.loops.insert(loop);
    out.needs.insert_all(needs_[loop]);
  }
  out.needs.erase_all(out.loops);
  return out;
}

void Groups::add(const std::vector<std::size_t>& loops) {
  groups_.push_back(made_of(loops));
}

void Groups::put(std::size_t group, const std::vector<std::size_t>& loops) {
  groups_[group] = made_of(loops);
}

void Groups::erase(std::size_t group) {
  groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(group));
}

std::vector<bool> Groups::lead_around_to(const LoopSet& needed) const {
  // what those groups need that have one of the loops, or lead to such a group
  LoopSet before(needs_.size());
  std::vector<bool> is_counted(groups_.size(), false);
  std::vector<bool> out(groups_.size(), false);
  bool has_grown = true;
  while (has_grown) {  // once or twice, as most groups depend on those in front of them
    has_grown = false;
    for (std::size_t group = groups_.size(); group-- > 0;) {
      if (!out[group]) out[group] = groups_[group].loops.meets(before);
      if (is_counted[group] || !(out[group] || groups_[group].loops.meets(needed))) continue;
      before.insert_all(groups_[group].needs);
      is_counted[group] = has_grown = true;
    }
  }
  return out;
}

bool Groups::has_order() const {
  LoopSet done(needs_.size());
  std::vector<std::size_t> left(groups_.size());
  for (std::size_t group = 0; group < left.size(); ++group) left[group] = group;
  while (!left.empty()) {
    const std::size_t n = left.size();
    std::erase_if(left, [&](std::size_t group) {
      if (!groups_[group].needs.is_within(done)) return false;
      done.insert_all(groups_[group].loops);
      return true;
    });
    if (left.size() == n) return false;
  }
  return true;
}

std::vector<std::size_t> Groups::in_order() const {
  LoopSet done(needs_.size());
  std::vector<std::size_t> out;
  std::vector<bool> is_done(groups_.size(), false);
  std::size_t first = 0;  // all before it are done
  while (out.size() < groups_.size()) {
    std::size_t next = first;
    while (is_done[next] || !groups_[next].needs.is_within(done)) ++next;
    is_done[next] = true;
    done.insert_all(groups_[next].loops);
    out.push_back(next);
    while (first < is_done.size() && is_done[first]) ++first;
  }
  return out;
}

}  // namespace op2::chain
