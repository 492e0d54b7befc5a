// SPDX-License-Identifier: BSD-3-Clause
#include "chain/schedule.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "chain/grouping.hpp"
#include "chain/stores.hpp"
#include "ir/group.hpp"

namespace op2::chain {

Entry action(const std::vector<std::pair<ir::Alias, bool>>& uses, bool zeroes, int repetition) {
  Entry out{{}, "it is no loop", "it is no loop"};
  out.zeroes = zeroes;
  out.repetition = repetition;
  for (const auto& [alias, is_written] : uses) {
    if (is_written) {
      out.loop.args.push_back({ir::GlobalReduce{DType::float64, 1, Access::write, alias}});
    } else {
      out.loop.args.push_back({ir::GlobalRead{DType::float64, 1, alias}});
    }
  }
  return out;
}

Schedule schedule(const std::vector<Entry>& chain, const Passes& passes,
                  const std::vector<int>& pinned) {
  const Known known(chain, pinned);
  Grouping grouping(known, passes);
  place(grouping);
  if (passes.fuse) regroup(grouping);
  Schedule out;
  for (const std::size_t at : grouping.order.in_order()) {
    const Candidate& group = grouping.groups[at];
    out.steps.push_back({group.loops, group.inverted, group.renamed, {}, {}, {}});
  }
  out.decisions = std::move(grouping.decisions);
  const StorePass pass{known, grouping.rules, passes, out};
  std::set<int> kept;
  if (passes.zero || passes.total) find_zeros(pass);
  if (passes.copy) kept = find_copies(pass);
  if (passes.drop) drop(pass, kept);
  return out;
}

ir::Group group_of(std::vector<ir::Loop> loops, const std::vector<std::size_t>& inverted,
                   const std::vector<int>& dropped, const std::vector<int>& zeroed,
                   const std::vector<std::pair<std::size_t, std::size_t>>& apart) {
  int n_data = 0;
  for (const ir::Loop& loop : loops) {
    for (const ir::Arg& arg : loop.args) n_data = std::max(n_data, alias_of(arg).data + 1);
  }
  for (const auto& [loop, arg] : apart) {
    ir::alias_in(loops.at(loop).args.at(arg)).data = n_data++;
    loops.at(loop).args.at(arg).is_before = true;
  }
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
