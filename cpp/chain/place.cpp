// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <utility>

#include "chain/grouping.hpp"

namespace op2::chain {
namespace {

constexpr const char* must_be_apart =
    "what must come between them depends on one and is needed by the other";

double n_bytes(const Grouping& grouping, std::size_t group) {
  double sum = 0.0;
  for (const std::size_t loop : grouping.groups[group].loops)
    sum += grouping.known.entries[loop].n_bytes;
  return sum;
}

/// False for loops without a common Set: they are left out of the report.
bool is_worth_asking(const Grouping& grouping, std::size_t group, std::size_t loop) {
  const Known& known = grouping.known;
  if (known.is_action(loop) || known.is_action(grouping.groups[group].loops.front())) return false;
  const int set = grouping.rules.set_of(grouping.groups[group]);
  return grouping.known.entries[loop].loop.set == set ||
         (grouping.passes.invert && known.adds_to(loop, set)) ||
         (grouping.passes.invert && grouping.groups[group].loops.size() == 1 &&
          grouping.groups[group].inverted.empty() &&
          known.adds_to(grouping.groups[group].loops.front(),
                        grouping.known.entries[loop].loop.set));
}

/// The group with the loop, or the reason why not. The reason is noted.
Candidate asked(Grouping& grouping, std::size_t group, std::size_t loop, bool is_apart) {
  if (!is_worth_asking(grouping, group, loop)) return {{}, {}, {}, "they share no Set"};
  Candidate found = grouping.rules.with(grouping.groups[group], loop);
  if (found.why.empty() && is_apart) found.why = must_be_apart;
  const char* pass = found.inverted.empty() ? "fuse" : "invert";
  if (found.why.empty() && !grouping.passes.rotate &&
      grouping.is_of_other_repetition(grouping.groups[group].loops, loop)) {
    pass = "rotate";
    found.why = is_switched_off;
  }
  if (!found.why.empty()) grouping.note(pass, grouping.groups[group].loops, loop, found.why);
  return found;
}

/// Add single loops to a group that now visits the Set to which they add.
void take_in_others(Grouping& grouping, std::size_t group) {
  const std::size_t oldest = grouping.oldest_asked();
  for (std::size_t other = grouping.groups.size(); other-- > oldest;) {
    const bool is_one = other != group && grouping.groups[other].loops.size() == 1;
    if (!is_one || !grouping.known.adds_to(grouping.groups[other].loops.front(),
                                           grouping.rules.set_of(grouping.groups[group])))
      continue;
    const std::size_t loop = grouping.groups[other].loops.front();
    Candidate found = grouping.rules.with_inverted(grouping.groups[group], loop);
    if (found.why.empty() &&
        (grouping.order.leads_around(group, other) || grouping.order.leads_around(other, group))) {
      found.why = must_be_apart;
    }
    const bool is_rotated =
        found.why.empty() && grouping.is_of_other_repetition(grouping.groups[group].loops, loop);
    if (is_rotated && !grouping.passes.rotate) found.why = is_switched_off;
    grouping.note(is_rotated && !grouping.passes.rotate ? "rotate" : "invert", found.loops, loop,
                  found.why);
    if (!found.why.empty()) continue;
    grouping.put(group, std::move(found));
    grouping.note_rotated(grouping.groups[group].loops, loop);
    grouping.erase(other);
    if (other < group) --group;
  }
}

void place_one(Grouping& grouping, std::size_t loop) {
  const std::size_t oldest = grouping.oldest_asked();
  const std::vector<bool> is_apart = grouping.order.lead_around_to_loop(loop);
  std::optional<std::size_t> best;
  Candidate joined;
  for (std::size_t group = grouping.groups.size(); group-- > oldest;) {
    Candidate found = asked(grouping, group, loop, is_apart[group]);
    if (!found.why.empty() || (best && n_bytes(grouping, group) <= n_bytes(grouping, *best)))
      continue;
    best = group;
    joined = std::move(found);
  }
  if (!best) return grouping.add(loop);
  const bool inverts = joined.inverted.size() > grouping.groups[*best].inverted.size();
  grouping.note(inverts ? "invert" : "fuse", joined.loops, loop, "");
  if (joined.renamed.size() > grouping.groups[*best].renamed.size()) {
    grouping.note("rename", joined.loops, loop, "");
  }
  grouping.put(*best, std::move(joined));
  grouping.note_rotated(grouping.groups[*best].loops, loop);
  if (inverts) take_in_others(grouping, *best);
}

}  // namespace

void place(Grouping& grouping) {
  for (std::size_t loop = 0; loop < grouping.known.entries.size(); ++loop) {
    place_one(grouping, loop);
  }
}

}  // namespace op2::chain
