// SPDX-License-Identifier: BSD-3-Clause
#include <set>
#include <variant>

#include "chain/stores.hpp"
#include "ir/group.hpp"

namespace op2::chain {

using ir::Arg;

namespace {

void follow_zeros(const StorePass& pass, std::size_t at, std::set<int>& zero) {
  const std::vector<ir::Operand>& args = pass.known.args_of(at);
  for (std::size_t arg = 0; arg < args.size(); ++arg) {
    const ir::Alias& alias = alias_of(args[arg]);
    if (!writes(access_of(args[arg]))) continue;
    for (const int data : pass.known.shapes.at(alias.memory)) zero.erase(data);
    const bool is_action = pass.known.is_action(at);
    const bool is_zero = is_action ? pass.known.entries[at].zeroes
                                   : ir::leaves_zero(pass.known.entries[at].loop, arg);
    if (is_zero && pass.known.is_alone(at, alias)) zero.insert(alias.data);
  }
}

/// Is a private sum of each target all that the step does with a Dat until it stores it?
bool adds_first(const StorePass& pass, const Step& step, int data) {
  if (step.loops.size() < 2 || step.inverted.empty()) return false;
  const ir::Group fused =
      ir::fused(pass.rules.members_of({step.loops, step.inverted, step.renamed, ""}));
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

}  // namespace

bool only_adds_up(const Known& known, const Step& step, int data) {
  bool has_sum = false;
  for (const std::size_t loop : step.loops) {
    const Entry& entry = known.entries[loop];
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

void find_zeros(const StorePass& pass) {
  std::set<int> zero;
  for (Step& step : pass.schedule.steps) {
    for (const int data : zero) {
      const bool is_sum = (pass.passes.zero && adds_first(pass, step, data)) ||
                          (pass.passes.total && only_adds_up(pass.known, step, data));
      if (is_sum) step.zeroed.push_back(data);
    }
    if (!step.zeroed.empty()) pass.schedule.decisions.push_back({"zero", step.loops, true, ""});
    for (const std::size_t loop : step.loops) follow_zeros(pass, loop, zero);
  }
}

}  // namespace op2::chain
