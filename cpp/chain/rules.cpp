// SPDX-License-Identifier: BSD-3-Clause
#include "chain/rules.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "ir/group.hpp"

namespace op2::chain {

using ir::Arg;

Candidate Rules::with_inverted(const Candidate& group, std::size_t loop) const {
  Candidate out{{}, {}, {}, ""};
  out.loops = group.loops;
  out.loops.insert(std::ranges::lower_bound(out.loops, loop), loop);
  for (std::size_t place = 0; place < out.loops.size(); ++place) {
    const auto before = std::ranges::find(group.loops, out.loops[place]) - group.loops.begin();
    const bool is_new = out.loops[place] == loop;
    if (is_new || group.inverts(static_cast<std::size_t>(before))) out.inverted.push_back(place);
  }
  out.why = why_not_together(out, loop);
  if (out.why.empty()) rename_all(out);
  return out;
}

Candidate Rules::with(const Candidate& group, std::size_t loop) const {
  const int set = set_of(group);
  const bool is_direct = known_.entries[loop].loop.set == set;
  if (!is_direct && !group.inverted.empty()) return with_inverted(group, loop);
  Candidate out = group;
  out.loops.push_back(loop);
  if (!is_direct) out.inverted = {known_.adds_to(loop, set) ? out.loops.size() - 1 : 0};
  out.why = why_not_together(out, loop);
  if (out.why.empty() && is_direct && !passes_.fuse) out.why = is_switched_off;
  if (out.why.empty()) rename_and_check(out);
  return out;
}

Candidate Rules::regrouped(const Candidate& group, const std::vector<std::size_t>& loops) const {
  Candidate out{loops, {}, {}, ""};
  for (std::size_t place = 0; place < group.loops.size(); ++place) {
    const auto now = std::ranges::find(loops, group.loops[place]) - loops.begin();
    if (group.inverts(place)) out.inverted.push_back(static_cast<std::size_t>(now));
  }
  for (const std::size_t loop : loops) {
    if (out.why.empty()) out.why = why_not_together(out, loop);
  }
  if (out.why.empty()) rename_all(out);
  return out;
}

int Rules::set_of(const Candidate& group) const {
  if (group.inverted.empty()) return known_.entries[group.loops.front()].loop.set;
  return known_.target_set(group.loops[group.inverted.front()]);
}

std::string Rules::why_not_together(const Candidate& group, std::size_t loop) const {
  for (const std::size_t member : group.loops) {
    if (known_.entries[member].why_alone.empty()) continue;
    return fmt::format("'{}': {}", name_of(known_.entries[member].loop),
                       known_.entries[member].why_alone);
  }
  const Entry& first = known_.entries[group.loops.front()];
  if (known_.entries[loop].loop.iteration != first.loop.iteration ||
      known_.entries[loop].part != first.part) {
    return "they do not visit the same elements, or not in the same way; give both the same Set "
           "and part";
  }
  const std::string why = why_not_on_lanes(group);
  return why.empty() ? why_not_inverted(group) : why;
}

std::string Rules::why_not_on_lanes(const Candidate& group) const {
  const auto heavy = std::ranges::find_if(
      group.loops, [this](std::size_t member) { return known_.entries[member].lanes > 0; });
  if (heavy == group.loops.end()) return "";
  const auto said = [&](const std::string& what) {
    return fmt::format("'{}' runs on {} lanes, and {}", name_of(known_.entries[*heavy].loop),
                       known_.entries[*heavy].lanes, what);
  };
  for (std::size_t place = 0; place < group.loops.size(); ++place) {
    const Entry& entry = known_.entries[group.loops[place]];
    const std::string& why = group.inverts(place) ? entry.why_no_columns : entry.why_no_lanes;
    if (why.empty()) continue;
    return said(fmt::format("'{}' cannot: {}", name_of(entry.loop), why));
  }
  return "";
}

std::string Rules::why_not_inverted(const Candidate& group) const {
  if (group.inverted.empty()) return "";
  bool has_lead = false;
  for (const std::size_t place : group.inverted) {
    const Entry& entry = known_.entries[group.loops[place]];
    if (entry.entry_bytes != known_.entries[group.loops[group.inverted.front()]].entry_bytes) {
      return fmt::format(
          "the incidences of '{}' are numbered in another width; one dtype for the values of both "
          "Maps joins them",
          name_of(entry.loop));
    }
    has_lead |= entry.why_no_invert.empty();
    const bool is_alone = group.inverted.size() == 1;
    const std::string& why = is_alone ? entry.why_no_invert : entry.why_no_join;
    if (why.empty() || entry.why_no_invert.empty()) continue;
    return fmt::format("'{}' is not visited from its targets: {}", name_of(entry.loop), why);
  }
  return has_lead ? ""
                  : "none of them is worth visiting from its targets alone; strategy='owner' at "
                    "one asks for it";
}

std::vector<ir::Loop> Rules::members_of(const Candidate& group) const {
  std::vector<ir::Loop> out;
  for (std::size_t i = 0; i < group.loops.size(); ++i) {
    const ir::Loop& loop = known_.entries[group.loops[i]].loop;
    out.push_back(group.inverts(i) ? ir::inverted(loop) : loop);
    for (const Renamed& renamed : group.renamed) {
      if (renamed.loop != group.loops[i]) continue;
      ir::Alias& alias = ir::alias_in(out.back().args[renamed.arg]);
      alias = {known_.n_aliases + alias.data, known_.n_aliases + alias.memory};
    }
  }
  return out;
}

void Rules::rename_all(Candidate& group) const {
  Candidate grown{{}, {}, {}, ""};
  for (std::size_t place = 0; place < group.loops.size(); ++place) {
    grown.loops.push_back(group.loops[place]);
    if (group.inverts(place)) grown.inverted.push_back(place);
    rename_and_check(grown);
  }
  group.renamed = std::move(grown.renamed);
  group.why = std::move(grown.why);
}

void Rules::rename_and_check(Candidate& group) const {
  follow_renamed(group);
  group.why = ir::why_not_fused(ir::joined(members_of(group)));
  if (group.why.empty() || !passes_.rename) return;
  Candidate renamed = group;
  if (!rename_in(renamed)) return;
  renamed.why = ir::why_not_fused(ir::joined(members_of(renamed)));
  if (renamed.why.empty()) group = std::move(renamed);
}

void Rules::follow_renamed(Candidate& group) const {
  const std::size_t last = group.loops.back();
  const std::vector<ir::Operand>& args = known_.args_of(last);
  const std::set<int> renamed = renamed_before(group);
  for (std::size_t arg = 0; arg < args.size(); ++arg) {
    if (!renamed.contains(alias_of(args[arg]).data)) continue;
    group.renamed.push_back({last, arg, writes(access_of(args[arg]))});
  }
}

bool Rules::rename_in(Candidate& group) const {
  const std::size_t last = group.loops.back();
  const std::vector<ir::Operand>& args = known_.args_of(last);
  const std::set<int> renamed = renamed_before(group);
  const std::size_t n_before = group.renamed.size();
  for (std::size_t arg = 0; arg < args.size(); ++arg) {
    const int data = alias_of(args[arg]).data;
    if (renamed.contains(data)) continue;  // a second time would be a third buffer
    if (known_.pinned.contains(data)) continue;
    if (!is_reached_elsewhere(group, data)) continue;
    if (known_.is_own(last, arg)) {
      group.renamed.push_back({last, arg, true});
    } else if (known_.is_changed(last, arg)) {
      group.renamed.push_back({last, arg, true, true});
    }
  }
  return group.renamed.size() > n_before;
}

std::set<int> Rules::renamed_before(const Candidate& group) const {
  std::set<int> found;
  for (const Renamed& one : group.renamed) {
    found.insert(alias_of(known_.args_of(one.loop)[one.arg]).data);
  }
  return found;
}

bool Rules::is_reached_elsewhere(const Candidate& group, int data) const {
  return std::ranges::any_of(group.loops, [&](std::size_t member) {
    return member != group.loops.back() &&
           std::ranges::any_of(known_.args_of(member), [&](const Arg& arg) {
             return target_map_of(arg) >= 0 && alias_of(arg).data == data &&
                    access_of(arg) == Access::read;
           });
  });
}

}  // namespace op2::chain
