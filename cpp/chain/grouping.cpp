// SPDX-License-Identifier: BSD-3-Clause
#include "chain/grouping.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace op2::chain {

namespace {

std::vector<const ir::Loop*> loops_of(const std::vector<Entry>& chain) {
  std::vector<const ir::Loop*> out;
  for (const Entry& entry : chain) out.push_back(&entry.loop);
  return out;
}

}  // namespace

Grouping::Grouping(const Known& all, const Passes& wanted)
    : known(all),
      passes(wanted),
      rules(all, wanted),
      order(all_dependences(loops_of(all.entries))) {}

void Grouping::add(std::size_t loop) {
  groups.push_back({{loop}, {}, {}, ""});
  order.add({loop});
}

void Grouping::put(std::size_t group, Candidate found) {
  groups[group] = std::move(found);
  order.put(group, groups[group].loops);
}

void Grouping::erase(std::size_t group) {
  groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(group));
  order.erase(group);
}

void Grouping::note(std::string pass, std::vector<std::size_t> loops, std::size_t loop,
                    std::string why) {
  if (std::ranges::find(loops, loop) == loops.end()) loops.push_back(loop);
  const bool applied = why.empty();
  decisions.push_back({std::move(pass), std::move(loops), applied, std::move(why)});
}

void Grouping::note_rotated(const std::vector<std::size_t>& loops, std::size_t loop) {
  std::vector<std::size_t> before;
  std::ranges::copy_if(loops, std::back_inserter(before), [&](std::size_t member) {
    return known.entries[member].repetition < known.entries[loop].repetition;
  });
  if (!before.empty()) note("rotate", std::move(before), loop, "");
}

bool Grouping::is_of_other_repetition(const std::vector<std::size_t>& loops,
                                      std::size_t loop) const {
  return std::ranges::any_of(loops, [&](std::size_t member) {
    return known.entries[member].repetition != known.entries[loop].repetition;
  });
}

std::size_t Grouping::oldest_asked() const {
  return groups.size() - std::min(groups.size(), most_groups_asked);
}

}  // namespace op2::chain
