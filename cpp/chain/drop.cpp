// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "chain/stores.hpp"
#include "ir/group.hpp"

namespace op2::chain {

using ir::Arg;

namespace {

/// True if the next step that uses the Dat writes all of it, or starts sums in it at 0.
bool is_overwritten_after(const StorePass& pass, std::size_t at, int data) {
  for (std::size_t next = at + 1; next < pass.schedule.steps.size(); ++next) {
    const std::vector<int>& zeroed = pass.schedule.steps[next].zeroed;
    if (std::ranges::find(zeroed, data) != zeroed.end()) return true;
    for (const std::size_t loop : pass.schedule.steps[next].loops) {
      const std::vector<ir::Operand>& args = pass.known.args_of(loop);
      const auto use =
          std::ranges::find_if(args, [&](const Arg& arg) { return alias_of(arg).data == data; });
      if (use == args.end()) continue;
      return pass.known.is_own(loop, static_cast<std::size_t>(use - args.begin()));
    }
  }
  return false;
}

/// Dats that one member writes for the next, and whose memory no other Dat shares.
std::set<int> handed_on(const StorePass& pass, const Step& step) {
  Candidate group{step.loops, step.inverted, step.renamed, ""};
  const ir::Group fused = ir::fused(pass.rules.members_of(group));
  std::set<int> found;
  for (std::size_t arg = 0; arg < fused.args.size(); ++arg) {
    const ir::Alias& alias = alias_of(fused.args[arg]);
    const bool is_alone =
        pass.known.shapes.contains(alias.memory) && pass.known.shapes.at(alias.memory).size() == 1;
    if (is_alone && ir::is_handed_on(fused, arg)) found.insert(alias.data);
  }
  return found;
}

/// Sums into Globals that are overwritten before they are read.
void drop_totals(const StorePass& pass, std::size_t at) {
  Step& step = pass.schedule.steps[at];
  std::set<int> found;
  for (const std::size_t loop : step.loops) {
    for (const Arg& arg : pass.known.args_of(loop)) {
      const ir::Alias& alias = alias_of(arg);
      if (std::holds_alternative<ir::GlobalReduce>(arg) && pass.known.is_alone(loop, alias) &&
          only_adds_up(pass.known, step, alias.data) &&
          is_overwritten_after(pass, at, alias.data)) {
        found.insert(alias.data);
      }
    }
  }
  if (found.empty()) return;
  step.dropped.insert(step.dropped.end(), found.begin(), found.end());
  pass.schedule.decisions.push_back({"drop", step.loops, true, ""});
}

/// An action that sets memory to 0 is not needed before sums that start at 0.
void drop_zeroing(const StorePass& pass) {
  for (std::size_t at = pass.schedule.steps.size(); at-- > 0;) {
    const std::size_t action = pass.schedule.steps[at].loops.front();
    if (!pass.known.entries[action].zeroes || pass.schedule.steps[at].loops.size() > 1) continue;
    const auto is_unseen = [&](const Arg& arg) {
      return pass.known.is_alone(action, alias_of(arg)) &&
             is_overwritten_after(pass, at, alias_of(arg).data);
    };
    if (!std::ranges::all_of(pass.known.args_of(action), is_unseen)) continue;
    pass.schedule.decisions.push_back({"drop", pass.schedule.steps[at].loops, true, ""});
    pass.schedule.steps.erase(pass.schedule.steps.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

}  // namespace

void drop(const StorePass& pass, const std::set<int>& kept) {
  for (std::size_t at = 0; at < pass.schedule.steps.size(); ++at) {
    if (pass.passes.total) drop_totals(pass, at);
    if (pass.schedule.steps[at].loops.size() < 2) continue;
    for (const int data : handed_on(pass, pass.schedule.steps[at])) {
      std::vector<int>& dropped = pass.schedule.steps[at].dropped;
      const bool is_known = std::ranges::find(dropped, data) != dropped.end();
      if (is_known || kept.contains(data) || !is_overwritten_after(pass, at, data)) continue;
      dropped.push_back(data);
      pass.schedule.decisions.push_back({"drop", pass.schedule.steps[at].loops, true, ""});
    }
  }
  drop_zeroing(pass);
}

}  // namespace op2::chain
