// SPDX-License-Identifier: BSD-3-Clause
#include "chain/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "chain/dependences.hpp"
#include "ir/group.hpp"

namespace op2::chain {
namespace {

using ir::Arg;

/// A loop asks so many groups before it: what lies further back is seldom in the caches of anyone,
/// and the work for a long chain stays bounded.
constexpr std::size_t most_groups_asked = 16;

constexpr const char* is_switched_off = "the pass is switched off";
constexpr const char* must_be_apart =
    "what must come between them depends on one and is needed by the other";

ir::Alias& alias_in(Arg& arg) {
  return std::visit([](auto& node) -> ir::Alias& { return node.alias; }, arg);
}

/// The Set whose items a loop visits once it is seen from its targets.
int set_from_targets(const ir::Loop& loop) {
  return ir::inverted(loop).set;
}

/// Loops that may become one function.
struct Candidate {
  std::vector<std::size_t> loops;
  std::vector<std::size_t> inverted;  // places among them
  std::vector<Renamed> renamed;
  std::string why;  // it is none; empty: it is

  bool inverts(std::size_t place) const {
    return std::ranges::find(inverted, place) != inverted.end();
  }
};

class Scheduler {
 public:
  Scheduler(const std::vector<Entry>& chain, const Passes& passes, const std::vector<int>& pinned)
      : chain_(chain),
        passes_(passes),
        pinned_(pinned.begin(), pinned.end()),
        order_(all_dependences(loops_of(chain))),
        target_sets_(chain.size()) {
    for (const Entry& entry : chain) {
      for (const Arg& arg : entry.loop.args) {
        const ir::Alias& alias = alias_of(arg);
        n_aliases_ = std::max({n_aliases_, alias.data + 1, alias.memory + 1});
        shapes_[alias.memory].insert(alias.data);
      }
      rows_.push_back(rows_of(entry.loop));
      defines_.emplace_back(entry.loop.args.size());
    }
    met_.resize(static_cast<std::size_t>(n_aliases_));
  }

  Schedule run() {
    for (std::size_t i = 0; i < chain_.size(); ++i) place(i);
    if (passes_.fuse) regroup();
    Schedule out;
    for (const std::size_t group : order_.in_order()) out.steps.push_back(step(groups_[group]));
    if (passes_.zero || passes_.total) find_zeros(out);
    if (passes_.copy) find_copies(out);
    if (passes_.drop) drop(out);
    out.decisions = std::move(decisions_);
    return out;
  }

 private:
  /// A row of a Dat that an item itself has.
  struct Row {
    int data;
    std::int64_t n_bytes;
    Access access;
  };

  /// When item_bytes() was asked that met a Dat last.
  struct Met {
    std::int64_t read = 0;
    std::int64_t written = 0;
  };

  static std::vector<const ir::Loop*> loops_of(const std::vector<Entry>& chain) {
    std::vector<const ir::Loop*> out;
    for (const Entry& entry : chain) out.push_back(&entry.loop);
    return out;
  }

  void add_group(std::size_t loop) {
    groups_.push_back({{loop}, {}, {}, ""});
    order_.add({loop});
  }

  void put_group(std::size_t group, Candidate found) {
    groups_[group] = std::move(found);
    order_.put(group, groups_[group].loops);
  }

  void erase_group(std::size_t group) {
    groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(group));
    order_.erase(group);
  }

  void place(std::size_t loop) {
    const std::size_t oldest = groups_.size() - std::min(groups_.size(), most_groups_asked);
    const std::vector<bool> is_apart = order_.lead_around_to_loop(loop);
    std::optional<std::size_t> best;
    Candidate joined;
    for (std::size_t group = groups_.size(); group-- > oldest;) {
      Candidate found = asked(group, loop, is_apart[group]);
      if (!found.why.empty() || (best && n_bytes(group) <= n_bytes(*best))) continue;
      best = group;
      joined = std::move(found);
    }
    if (!best) return add_group(loop);
    const bool inverts = joined.inverted.size() > groups_[*best].inverted.size();
    note(inverts ? "invert" : "fuse", joined.loops, loop, "");
    if (joined.renamed.size() > groups_[*best].renamed.size()) {
      note("rename", joined.loops, loop, "");
    }
    put_group(*best, std::move(joined));
    note_rotated(groups_[*best].loops, loop);
    if (inverts) take_in_others(*best);
  }

  /// Does one of some loops belong to another repetition than this loop?
  bool is_of_other_repetition(const std::vector<std::size_t>& loops, std::size_t loop) const {
    return std::ranges::any_of(loops, [&](std::size_t member) {
      return chain_[member].repetition != chain_[loop].repetition;
    });
  }

  /// Note that a loop has joined some of the repetition before.
  void note_rotated(const std::vector<std::size_t>& loops, std::size_t loop) {
    std::vector<std::size_t> before;
    std::ranges::copy_if(loops, std::back_inserter(before), [&](std::size_t member) {
      return chain_[member].repetition < chain_[loop].repetition;
    });
    if (!before.empty()) note("rotate", std::move(before), loop, "");
  }

  /// Loops that add to the Set which a group visits now, and were left alone so far.
  void take_in_others(std::size_t group) {
    const std::size_t oldest = groups_.size() - std::min(groups_.size(), most_groups_asked);
    for (std::size_t other = groups_.size(); other-- > oldest;) {
      const bool is_one = other != group && groups_[other].loops.size() == 1;
      if (!is_one || !adds_to(groups_[other].loops.front(), set_of(groups_[group]))) continue;
      const std::size_t loop = groups_[other].loops.front();
      Candidate found = with_inverted(groups_[group], loop);
      if (found.why.empty() &&
          (order_.leads_around(group, other) || order_.leads_around(other, group))) {
        found.why = must_be_apart;
      }
      const bool is_rotated =
          found.why.empty() && is_of_other_repetition(groups_[group].loops, loop);
      if (is_rotated && !passes_.rotate) found.why = is_switched_off;
      note(is_rotated && !passes_.rotate ? "rotate" : "invert", found.loops, loop, found.why);
      if (!found.why.empty()) continue;
      put_group(group, std::move(found));
      note_rotated(groups_[group].loops, loop);
      erase_group(other);
      if (other < group) --group;
    }
  }

  /// A group whose items are targets, and one more loop that adds to them, in the chain's order.
  Candidate with_inverted(const Candidate& group, std::size_t loop) {
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

  // ------------------------------------------------------------------------------ better groups

  /// A loop was placed before it was known what comes later: move it where it shares more.
  void regroup() {
    std::vector<std::size_t> group_of(chain_.size());
    std::vector<std::int64_t> bytes(groups_.size());
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      for (const std::size_t loop : groups_[group].loops) group_of[loop] = group;
      bytes[group] = item_bytes(groups_[group].loops);
    }
    for (std::size_t loop = 0; loop < chain_.size(); ++loop) {
      if (chain_[loop].loop.members.empty() || !chain_[loop].why_alone.empty()) continue;
      const std::size_t from = group_of[loop];
      if (groups_[from].loops.size() < 2 || is_inverted(loop, groups_[from])) continue;
      std::vector<std::size_t> less = groups_[from].loops;
      std::erase(less, loop);
      const std::int64_t left_bytes = item_bytes(less);
      const std::size_t end = std::min(groups_.size(), from + 1 + most_groups_asked);
      for (std::size_t to = from - std::min(from, most_groups_asked); to < end; ++to) {
        if (to == from || !is_of_same_items(loop, from, to)) continue;
        if (!passes_.rotate && is_of_other_repetition(groups_[to].loops, loop)) continue;
        std::vector<std::size_t> more = groups_[to].loops;
        more.insert(std::ranges::lower_bound(more, loop), loop);
        const std::int64_t grown_bytes = item_bytes(more);
        if (left_bytes + grown_bytes >= bytes[from] + bytes[to]) continue;
        if (!try_to_move(from, less, to, more)) continue;
        note("fuse", more, loop, "");
        note_rotated(more, loop);
        group_of[loop] = to;
        bytes[from] = left_bytes;
        bytes[to] = grown_bytes;
        break;
      }
    }
  }

  static bool is_inverted(std::size_t loop, const Candidate& group) {
    const auto at = std::ranges::find(group.loops, loop) - group.loops.begin();
    return group.inverts(static_cast<std::size_t>(at));
  }

  /// Do both groups visit the items of the loop, and is the other one no action?
  bool is_of_same_items(std::size_t loop, std::size_t from, std::size_t to) {
    const int set = set_of(groups_[to]);
    return chain_[loop].loop.set == set && set_of(groups_[from]) == set &&
           !chain_[groups_[to].loops.front()].loop.members.empty();
  }

  /// @param[in] less The loops of @p from without one.
  /// @param[in] more Those of @p to, with it.
  bool try_to_move(std::size_t from, const std::vector<std::size_t>& less, std::size_t to,
                   const std::vector<std::size_t>& more) {
    if (!has_order_with(from, less, to, more)) return false;
    Candidate left = regrouped(groups_[from], less);
    if (!left.why.empty()) return false;
    Candidate grown = regrouped(groups_[to], more);
    if (!grown.why.empty()) return false;
    put_group(from, std::move(left));
    put_group(to, std::move(grown));
    return true;
  }

  /// Could the groups run one after the other if two of them had these loops?
  bool has_order_with(std::size_t one, const std::vector<std::size_t>& loops_of_one,
                      std::size_t other, const std::vector<std::size_t>& loops_of_other) {
    order_.put(one, loops_of_one);
    order_.put(other, loops_of_other);
    const bool found = order_.has_order();
    order_.put(one, groups_[one].loops);
    order_.put(other, groups_[other].loops);
    return found;
  }

  /// Other members of a group, of which those that were visited by incidences still are.
  Candidate regrouped(const Candidate& group, const std::vector<std::size_t>& loops) const {
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

  /// Bytes of the rows that each item itself has in memory, those of a member's results once.
  std::int64_t item_bytes(const std::vector<std::size_t>& loops) {
    std::int64_t sum = 0;
    ++n_asked_;
    for (const std::size_t loop : loops) {
      for (const Row& row : rows_[loop]) {
        Met& met = met_[static_cast<std::size_t>(row.data)];
        if (std::exchange(met.read, n_asked_) != n_asked_ && row.access != Access::write) {
          sum += row.n_bytes;
        }
        if (writes(row.access) && std::exchange(met.written, n_asked_) != n_asked_) {
          sum += row.n_bytes;
        }
      }
    }
    return sum;
  }

  static std::vector<Row> rows_of(const ir::Loop& loop) {
    std::vector<Row> out;
    for (const Arg& arg : loop.args) {
      const auto* dat = std::get_if<ir::DirectDat>(&arg);
      if (dat == nullptr) continue;
      const auto n_bytes = dat->dim * static_cast<std::int64_t>(size_of(dat->dtype));
      out.push_back({dat->alias.data, n_bytes, dat->access});
    }
    return out;
  }

  double n_bytes(std::size_t group) const {
    double sum = 0.0;
    for (const std::size_t loop : groups_[group].loops) sum += chain_[loop].n_bytes;
    return sum;
  }

  /// The group with the loop, or why not.
  Candidate asked(std::size_t group, std::size_t loop, bool is_apart) {
    if (!is_worth_asking(group, loop)) return {{}, {}, {}, "they share no Set"};
    Candidate found = candidate(groups_[group], loop);
    if (found.why.empty() && is_apart) found.why = must_be_apart;
    const char* pass = found.inverted.empty() ? "fuse" : "invert";
    if (found.why.empty() && !passes_.rotate &&
        is_of_other_repetition(groups_[group].loops, loop)) {
      pass = "rotate";
      found.why = is_switched_off;
    }
    if (!found.why.empty()) note(pass, groups_[group].loops, loop, found.why);
    return found;
  }

  /// Loops that have no Set in common are not worth a line of the report.
  bool is_worth_asking(std::size_t group, std::size_t loop) {
    const auto is_action = [this](std::size_t at) { return chain_[at].loop.members.empty(); };
    if (is_action(loop) || is_action(groups_[group].loops.front())) return false;
    const int set = set_of(groups_[group]);
    return chain_[loop].loop.set == set || (passes_.invert && adds_to(loop, set)) ||
           (passes_.invert && groups_[group].loops.size() == 1 && groups_[group].inverted.empty() &&
            adds_to(groups_[group].loops.front(), chain_[loop].loop.set));
  }

  int set_of(const Candidate& group) {
    if (group.inverted.empty()) return chain_[group.loops.front()].loop.set;
    const std::size_t loop = group.loops[group.inverted.front()];
    if (!target_sets_[loop]) target_sets_[loop] = set_from_targets(chain_[loop].loop);
    return *target_sets_[loop];
  }

  bool adds_to(std::size_t loop, int set) const {
    const ir::Loop& one = chain_[loop].loop;
    return one.set != set && std::ranges::any_of(one.args, [&](const Arg& arg) {
             const int map = target_map_of(arg);
             return map >= 0 && is_reduction(access_of(arg)) &&
                    one.maps[static_cast<std::size_t>(map)].toset == set;
           });
  }

  Candidate candidate(const Candidate& group, std::size_t loop) {
    const int set = set_of(group);
    const bool is_direct = chain_[loop].loop.set == set;
    if (!is_direct && !group.inverted.empty()) return with_inverted(group, loop);
    Candidate out = group;
    out.loops.push_back(loop);
    if (!is_direct) out.inverted = {adds_to(loop, set) ? out.loops.size() - 1 : 0};
    out.why = why_not_together(out, loop);
    if (out.why.empty() && is_direct && !passes_.fuse) out.why = is_switched_off;
    if (out.why.empty()) rename_and_check(out);
    return out;
  }

  /// What forbids loops one function, before it is asked who writes what.
  std::string why_not_together(const Candidate& group, std::size_t loop) const {
    for (const std::size_t member : group.loops) {
      if (chain_[member].why_alone.empty()) continue;
      return fmt::format("'{}': {}", name_of(chain_[member].loop), chain_[member].why_alone);
    }
    const Entry& first = chain_[group.loops.front()];
    if (chain_[loop].loop.iteration != first.loop.iteration || chain_[loop].part != first.part) {
      return "they do not visit the same elements, or not in the same way";
    }
    const std::string why = why_not_on_lanes(group);
    return why.empty() ? why_not_inverted(group) : why;
  }

  /// What lanes gain for one member is not to be lost.
  std::string why_not_on_lanes(const Candidate& group) const {
    const auto heavy = std::ranges::find_if(
        group.loops, [this](std::size_t member) { return chain_[member].lanes > 0; });
    if (heavy == group.loops.end()) return "";
    const auto said = [&](const std::string& what) {
      return fmt::format("'{}' runs on {} lanes, and {}", name_of(chain_[*heavy].loop),
                         chain_[*heavy].lanes, what);
    };
    for (std::size_t place = 0; place < group.loops.size(); ++place) {
      const Entry& entry = chain_[group.loops[place]];
      const std::string& why = group.inverts(place) ? entry.why_no_columns : entry.why_no_lanes;
      if (why.empty()) continue;
      return said(fmt::format("'{}' cannot: {}", name_of(entry.loop), why));
    }
    return "";
  }

  /// All must be able to, and one must be worth it alone, or targets would not be visited at all.
  std::string why_not_inverted(const Candidate& group) const {
    if (group.inverted.empty()) return "";
    bool has_lead = false;
    for (const std::size_t place : group.inverted) {
      const Entry& entry = chain_[group.loops[place]];
      if (entry.entry_bytes != chain_[group.loops[group.inverted.front()]].entry_bytes) {
        return fmt::format("the incidences of '{}' are numbered in another width",
                           name_of(entry.loop));
      }
      has_lead |= entry.why_no_invert.empty();
      const bool is_alone = group.inverted.size() == 1;
      const std::string& why = is_alone ? entry.why_no_invert : entry.why_no_join;
      if (why.empty() || entry.why_no_invert.empty()) continue;
      return fmt::format("'{}' is not visited from its targets: {}", name_of(entry.loop), why);
    }
    return has_lead ? "" : "none of them is worth visiting from its targets alone";
  }

  /// The members as they would be run, with what is renamed.
  std::vector<ir::Loop> members_of(const Candidate& group) const {
    std::vector<ir::Loop> out;
    for (std::size_t i = 0; i < group.loops.size(); ++i) {
      const ir::Loop& loop = chain_[group.loops[i]].loop;
      out.push_back(group.inverts(i) ? ir::inverted(loop) : loop);
      for (const Renamed& renamed : group.renamed) {
        if (renamed.loop != group.loops[i]) continue;
        ir::Alias& alias = alias_in(out.back().args[renamed.arg]);
        alias = {n_aliases_ + alias.data, n_aliases_ + alias.memory};
      }
    }
    return out;
  }

  /// Rename what must be, member after member, as if they had come one by one.
  void rename_all(Candidate& group) const {
    Candidate grown{{}, {}, {}, ""};
    for (std::size_t place = 0; place < group.loops.size(); ++place) {
      grown.loops.push_back(group.loops[place]);
      if (group.inverts(place)) grown.inverted.push_back(place);
      rename_and_check(grown);
    }
    group.renamed = std::move(grown.renamed);
    group.why = std::move(grown.why);
  }

  void rename_and_check(Candidate& group) const {
    follow_renamed(group);
    group.why = ir::why_not_fused(ir::joined(members_of(group)));
    if (group.why.empty() || !passes_.rename) return;
    Candidate renamed = group;
    if (!rename_in(renamed)) return;
    renamed.why = ir::why_not_fused(ir::joined(members_of(renamed)));
    if (renamed.why.empty()) group = std::move(renamed);
  }

  /// What a member before it has put into a second buffer, the last member finds there.
  void follow_renamed(Candidate& group) const {
    const std::size_t last = group.loops.back();
    const std::vector<Arg>& args = chain_[last].loop.args;
    const std::set<int> renamed = renamed_before(group);
    for (std::size_t arg = 0; arg < args.size(); ++arg) {
      if (!renamed.contains(alias_of(args[arg]).data)) continue;
      group.renamed.push_back({last, arg, writes(access_of(args[arg]))});
    }
  }

  /// The last member writes, or changes, all of a Dat that members before it read through Maps: it,
  /// and whoever comes after it, uses another buffer. Returns whether there is one.
  bool rename_in(Candidate& group) const {
    const std::size_t last = group.loops.back();
    const std::vector<Arg>& args = chain_[last].loop.args;
    const std::set<int> renamed = renamed_before(group);
    const std::size_t n_before = group.renamed.size();
    for (std::size_t arg = 0; arg < args.size(); ++arg) {
      const int data = alias_of(args[arg]).data;
      if (renamed.contains(data)) continue;  // a second time would be a third buffer
      if (pinned_.contains(data)) continue;
      if (!is_reached_elsewhere(group, data)) continue;
      if (is_own(last, arg)) {
        group.renamed.push_back({last, arg, true});
      } else if (is_changed(last, arg)) {
        group.renamed.push_back({last, arg, true, true});
      }
    }
    return group.renamed.size() > n_before;
  }

  std::set<int> renamed_before(const Candidate& group) const {
    std::set<int> found;
    for (const Renamed& one : group.renamed) {
      found.insert(alias_of(chain_[one.loop].loop.args[one.arg]).data);
    }
    return found;
  }

  /// Is all of the Dat written, and by this argument alone?
  bool is_own(std::size_t at, std::size_t arg) const {
    const ir::Loop& loop = chain_[at].loop;
    if (loop.members.empty()) return writes(access_of(loop.args[arg]));  // an action sets all
    if (!is_alone(at, alias_of(loop.args[arg]))) return false;
    std::optional<bool>& known = defines_[at][arg];
    if (!known) known = ir::defines(loop, arg);  // looks at the kernel, which takes long
    return *known;
  }

  /// May all of the Dat be changed, by this argument alone, which sees the old values?
  bool is_changed(std::size_t at, std::size_t arg) const {
    const ir::Loop& loop = chain_[at].loop;
    return !loop.members.empty() && access_of(loop.args[arg]) == Access::rw &&
           is_alone(at, alias_of(loop.args[arg])) && ir::is_whole(loop, arg);
  }

  /// Does a member read through a Map what the last one writes?
  bool is_reached_elsewhere(const Candidate& group, int data) const {
    return std::ranges::any_of(group.loops, [&](std::size_t member) {
      return member != group.loops.back() &&
             std::ranges::any_of(chain_[member].loop.args, [&](const Arg& arg) {
               return target_map_of(arg) >= 0 && alias_of(arg).data == data &&
                      access_of(arg) == Access::read;
             });
    });
  }

  void note(std::string pass, std::vector<std::size_t> loops, std::size_t loop, std::string why) {
    if (std::ranges::find(loops, loop) == loops.end()) loops.push_back(loop);
    const bool applied = why.empty();
    decisions_.push_back({std::move(pass), std::move(loops), applied, std::move(why)});
  }

  static Step step(const Candidate& group) {
    return {group.loops, group.inverted, group.renamed, {}, {}, {}};
  }

  /// Follow which Dats hold 0 from step to step.
  void find_zeros(Schedule& schedule) {
    std::set<int> zero;
    for (Step& step : schedule.steps) {
      for (const int data : zero) {
        const bool is_sum =
            (passes_.zero && adds_first(step, data)) || (passes_.total && only_adds_up(step, data));
        if (is_sum) step.zeroed.push_back(data);
      }
      if (!step.zeroed.empty()) decisions_.push_back({"zero", step.loops, true, ""});
      for (const std::size_t loop : step.loops) follow_zeros(loop, zero);
    }
  }

  void follow_zeros(std::size_t at, std::set<int>& zero) const {
    const std::vector<Arg>& args = chain_[at].loop.args;
    for (std::size_t arg = 0; arg < args.size(); ++arg) {
      const ir::Alias& alias = alias_of(args[arg]);
      if (!writes(access_of(args[arg]))) continue;
      for (const int data : shapes_.at(alias.memory)) zero.erase(data);
      const bool is_action = chain_[at].loop.members.empty();
      const bool is_zero = is_action ? chain_[at].zeroes : ir::leaves_zero(chain_[at].loop, arg);
      if (is_zero && is_alone(at, alias)) zero.insert(alias.data);
    }
  }

  /// Do no other arguments of the loop, and no other Dats of the chain, lie in this memory?
  bool is_alone(std::size_t at, const ir::Alias& alias) const {
    const auto is_same = [&](const Arg& other) { return alias_of(other).memory == alias.memory; };
    return std::ranges::count_if(chain_[at].loop.args, is_same) == 1 &&
           shapes_.at(alias.memory).size() == 1;
  }

  /// Is a private sum of each target all that the step does with a Dat until it stores it?
  bool adds_first(const Step& step, int data) const {
    if (step.loops.size() < 2 || step.inverted.empty()) return false;
    const ir::Group fused = ir::fused(members_of({step.loops, step.inverted, step.renamed, ""}));
    bool has_sum = false;
    for (std::size_t arg = 0; arg < fused.args.size(); ++arg) {
      if (alias_of(fused.args[arg]).data != data) continue;
      const bool is_sum = ir::is_summed(fused, arg) && ir::is_at_incidences(fused, arg);
      const bool is_direct = std::holds_alternative<ir::DirectDat>(fused.args[arg]);
      if (!is_sum && (!is_direct || !has_sum)) return false;
      has_sum |= is_sum;
    }
    return has_sum;
  }

  /// Is a sum over all items all that the step does with a Global?
  bool only_adds_up(const Step& step, int data) const {
    bool has_sum = false;
    for (const std::size_t loop : step.loops) {
      const Entry& entry = chain_[loop];
      if (!entry.why_alone.empty() || entry.is_empty) return false;
      for (const Arg& arg : entry.loop.args) {
        if (alias_of(arg).data != data) continue;
        if (!std::holds_alternative<ir::GlobalReduce>(arg) || access_of(arg) != Access::inc) {
          return false;
        }
        has_sum = true;
      }
    }
    return has_sum;
  }

  /// A copy that is made in a step, and where it could be read instead.
  struct Copy {
    std::size_t loop;
    std::size_t arg;
    std::size_t source;  // an argument of the same loop
    int data;
    int source_data;
  };

  /// Where the values of a copy's source are: in its buffer, in its second one, nowhere any more.
  enum class Place { first, second, lost };

  void find_copies(Schedule& schedule) {
    for (std::size_t at = 0; at < schedule.steps.size(); ++at) {
      for (const std::size_t loop : schedule.steps[at].loops) {
        for (std::size_t arg = 0; arg < chain_[loop].loop.args.size(); ++arg) {
          const std::optional<Copy> copy = copy_by(loop, arg);
          if (copy) try_without(schedule, at, *copy);
        }
      }
    }
  }

  std::optional<Copy> copy_by(std::size_t at, std::size_t arg) const {
    const ir::Loop& loop = chain_[at].loop;
    if (loop.members.empty() || !is_alone(at, alias_of(loop.args[arg]))) return std::nullopt;
    const std::optional<std::size_t> source = ir::copied_from(loop, arg);
    if (!source || !is_alone(at, alias_of(loop.args[*source]))) return std::nullopt;
    return Copy{at, arg, *source, alias_of(loop.args[arg]).data, alias_of(loop.args[*source]).data};
  }

  void try_without(Schedule& schedule, std::size_t at, const Copy& copy) {
    std::vector<std::pair<std::size_t, Redirected>> found;  // with their step
    const std::string why = why_needed(schedule, at, copy, found);
    decisions_.push_back({"copy", schedule.steps[at].loops, why.empty(), why});
    if (!why.empty()) return;
    not_made_.insert(copy.data);
    if (!found.empty()) read_instead_.insert(copy.source_data);
    schedule.steps[at].dropped.push_back(copy.data);
    for (const auto& [step, redirected] : found) {
      schedule.steps[step].redirected.push_back(redirected);
    }
  }

  /// Follow the values from the step that copies them until all of the copy is overwritten.
  std::string why_needed(const Schedule& schedule, std::size_t at, const Copy& copy,
                         std::vector<std::pair<std::size_t, Redirected>>& found) const {
    const Step& maker = schedule.steps[at];
    if (maker.loops.size() < 2) return "the loop that makes it runs alone";
    if (not_made_.contains(copy.source_data) || read_instead_.contains(copy.data)) {
      return "it is part of a longer series of copies";
    }
    if (uses_after(maker, copy)) return "what was copied is changed in the same function";
    Place place = Place::first;
    for (std::size_t next = at + 1; next < schedule.steps.size(); ++next) {
      const Step& step = schedule.steps[next];
      for (const std::size_t loop : step.loops) {
        const std::vector<Arg>& args = chain_[loop].loop.args;
        bool is_overwritten = false;
        for (std::size_t arg = 0; arg < args.size(); ++arg) {
          if (alias_of(args[arg]).data != copy.data) continue;
          if (is_own(loop, arg)) {
            is_overwritten = true;
            continue;
          }
          const std::string why = why_not_redirected(step, loop, arg, copy, place);
          if (!why.empty()) return why;
          found.push_back({next, {loop, arg, copy.loop, copy.source, place == Place::second}});
        }
        if (is_overwritten) return "";
      }
      place = place_after(step, copy.source_data, place);
    }
    return "it may be seen after the chain";
  }

  /// In the function that makes the copy: is its source written later, or the copy used?
  bool uses_after(const Step& step, const Copy& copy) const {
    const auto from = std::ranges::find(step.loops, copy.loop) + 1;
    return std::any_of(from, step.loops.end(), [&](std::size_t loop) {
      return std::ranges::any_of(chain_[loop].loop.args, [&](const Arg& arg) {
        const int data = alias_of(arg).data;
        return data == copy.data || (data == copy.source_data && writes(access_of(arg)));
      });
    });
  }

  std::string why_not_redirected(const Step& step, std::size_t loop, std::size_t arg,
                                 const Copy& copy, Place place) const {
    const Arg& node = chain_[loop].loop.args[arg];
    if (chain_[loop].loop.members.empty() || step.loops.size() < 2) return "its reader runs alone";
    if (access_of(node) != Access::read) return "the copy is changed";
    if (place == Place::lost) return "what was copied is overwritten before";
    const auto from = std::ranges::find(step.loops, loop);
    const auto writes_source = [&](std::size_t member) { return writer_of(member, copy); };
    if (std::any_of(step.loops.begin(), from, writes_source)) {
      return "what was copied is overwritten before, in the same function";
    }
    if (std::none_of(from, step.loops.end(), writes_source)) return "";
    // an item overwrites its own row, which no other one may read
    const std::size_t number = static_cast<std::size_t>(from - step.loops.begin());
    const bool is_direct = std::holds_alternative<ir::DirectDat>(node) &&
                           std::ranges::find(step.inverted, number) == step.inverted.end();
    if (place == Place::second && !is_direct) return "others read it where it is overwritten";
    const auto has_lanes = [this](std::size_t member) { return chain_[member].lanes > 0; };
    if (place == Place::second && std::ranges::any_of(step.loops, has_lanes)) {
      return "lanes would have to read the second buffer where it is overwritten";
    }
    if (place == Place::first && !is_renamed(step, copy.source_data)) {
      return "what was copied is overwritten where it is";
    }
    return "";
  }

  bool writer_of(std::size_t loop, const Copy& copy) const {
    return std::ranges::any_of(chain_[loop].loop.args, [&](const Arg& arg) {
      return alias_of(arg).data == copy.source_data && writes(access_of(arg));
    });
  }

  bool is_renamed(const Step& step, int data) const {
    return std::ranges::any_of(step.renamed, [&](const Renamed& one) {
      return one.writes && alias_of(chain_[one.loop].loop.args[one.arg]).data == data;
    });
  }

  /// Buffers change places after a step that has written the second one.
  Place place_after(const Step& step, int data, Place place) const {
    const bool writes_it = std::ranges::any_of(step.loops, [&](std::size_t loop) {
      return std::ranges::any_of(chain_[loop].loop.args, [&](const Arg& arg) {
        return alias_of(arg).data == data && writes(access_of(arg));
      });
    });
    if (!writes_it) return place;
    return place == Place::first && is_renamed(step, data) ? Place::second : Place::lost;
  }

  void drop(Schedule& schedule) {
    for (std::size_t at = 0; at < schedule.steps.size(); ++at) {
      if (passes_.total) drop_totals(schedule, at);
      if (schedule.steps[at].loops.size() < 2) continue;
      for (const int data : handed_on(schedule.steps[at])) {
        std::vector<int>& dropped = schedule.steps[at].dropped;
        const bool is_known = std::ranges::find(dropped, data) != dropped.end();
        if (is_known || read_instead_.contains(data) || !is_overwritten_after(schedule, at, data))
          continue;
        dropped.push_back(data);
        decisions_.push_back({"drop", schedule.steps[at].loops, true, ""});
      }
    }
    drop_zeroing(schedule);
  }

  /// Sums into Globals that the next who uses them overwrites.
  void drop_totals(Schedule& schedule, std::size_t at) {
    Step& step = schedule.steps[at];
    std::set<int> found;
    for (const std::size_t loop : step.loops) {
      for (const Arg& arg : chain_[loop].loop.args) {
        const ir::Alias& alias = alias_of(arg);
        if (std::holds_alternative<ir::GlobalReduce>(arg) && is_alone(loop, alias) &&
            only_adds_up(step, alias.data) && is_overwritten_after(schedule, at, alias.data)) {
          found.insert(alias.data);
        }
      }
    }
    if (found.empty()) return;
    step.dropped.insert(step.dropped.end(), found.begin(), found.end());
    decisions_.push_back({"drop", step.loops, true, ""});
  }

  /// Who adds first does not look at what an action has set to 0.
  void drop_zeroing(Schedule& schedule) {
    for (std::size_t at = schedule.steps.size(); at-- > 0;) {
      const std::size_t action = schedule.steps[at].loops.front();
      if (!chain_[action].zeroes || schedule.steps[at].loops.size() > 1) continue;
      const auto is_unseen = [&](const Arg& arg) {
        return is_alone(action, alias_of(arg)) &&
               is_overwritten_after(schedule, at, alias_of(arg).data);
      };
      if (!std::ranges::all_of(chain_[action].loop.args, is_unseen)) continue;
      decisions_.push_back({"drop", schedule.steps[at].loops, true, ""});
      schedule.steps.erase(schedule.steps.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }

  /// Dats that one member writes for the next, and that nobody else can see in another shape.
  std::set<int> handed_on(const Step& step) const {
    Candidate group{step.loops, step.inverted, step.renamed, ""};
    const ir::Group fused = ir::fused(members_of(group));
    std::set<int> found;
    for (std::size_t arg = 0; arg < fused.args.size(); ++arg) {
      const ir::Alias& alias = alias_of(fused.args[arg]);
      const bool is_alone = shapes_.contains(alias.memory) && shapes_.at(alias.memory).size() == 1;
      if (is_alone && ir::is_handed_on(fused, arg)) found.insert(alias.data);
    }
    return found;
  }

  /// Is the next thing that happens to the Dat that all of it is written?
  bool is_overwritten_after(const Schedule& schedule, std::size_t at, int data) const {
    for (std::size_t next = at + 1; next < schedule.steps.size(); ++next) {
      const std::vector<int>& zeroed = schedule.steps[next].zeroed;
      if (std::ranges::find(zeroed, data) != zeroed.end()) return true;
      for (const std::size_t loop : schedule.steps[next].loops) {
        const std::vector<Arg>& args = chain_[loop].loop.args;
        const auto use =
            std::ranges::find_if(args, [&](const Arg& arg) { return alias_of(arg).data == data; });
        if (use == args.end()) continue;
        return is_own(loop, static_cast<std::size_t>(use - args.begin()));
      }
    }
    return false;
  }

  const std::vector<Entry>& chain_;
  const Passes passes_;
  const std::set<int> pinned_;
  int n_aliases_ = 0;
  std::map<int, std::set<int>> shapes_;  // of each memory the Dats that lie in it
  std::vector<Candidate> groups_;
  mutable std::vector<std::vector<std::optional<bool>>> defines_;  // [loop][arg], once asked for
  std::vector<std::vector<Row>> rows_;                             // [loop]
  std::vector<Met> met_;                                           // [data]
  std::int64_t n_asked_ = 0;
  Groups order_;                                 // of the same groups
  std::vector<std::optional<int>> target_sets_;  // [loop] that set_from_targets() was asked for
  std::vector<Decision> decisions_;
  std::set<int> not_made_;      // Dats of which a copy is left out somewhere
  std::set<int> read_instead_;  // Dats that are read in the place of copies of theirs
};

}  // namespace

Entry action(const std::vector<std::pair<ir::Alias, bool>>& uses, bool zeroes, int repetition) {
  Entry out{{}, "it is no loop", "it is no loop"};
  out.zeroes = zeroes;
  out.repetition = repetition;
  for (const auto& [alias, is_written] : uses) {
    if (is_written) {
      out.loop.args.push_back(ir::GlobalReduce{DType::float64, 1, Access::write, alias});
    } else {
      out.loop.args.push_back(ir::GlobalRead{DType::float64, 1, alias});
    }
  }
  return out;
}

Schedule schedule(const std::vector<Entry>& chain, const Passes& passes,
                  const std::vector<int>& pinned) {
  return Scheduler(chain, passes, pinned).run();
}

ir::Group group_of(std::vector<ir::Loop> loops, const std::vector<std::size_t>& inverted,
                   const std::vector<int>& dropped, const std::vector<int>& zeroed,
                   const std::vector<std::pair<std::size_t, std::size_t>>& apart) {
  int n_data = 0;
  for (const ir::Loop& loop : loops) {
    for (const Arg& arg : loop.args) n_data = std::max(n_data, alias_of(arg).data + 1);
  }
  for (const auto& [loop, arg] : apart) alias_in(loops.at(loop).args.at(arg)).data = n_data++;
  for (const std::size_t place : inverted) loops.at(place) = ir::inverted(loops.at(place));
  ir::Group group = ir::fused(loops);
  for (ir::Value& value : group.values) {
    const auto is_in = [&value](const std::vector<int>& list) {
      return std::ranges::find(list, value.alias.data) != list.end();
    };
    if (is_in(dropped)) value.stored = false;
    if (is_in(zeroed) && value.version == 0) value.is_zero = true;
  }
  return group;
}

}  // namespace op2::chain
