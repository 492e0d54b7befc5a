// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>

#include "chain/grouping.hpp"

namespace op2::chain {
namespace {

using ir::Arg;

/// A row of a Dat on the items themselves.
struct Row {
  int data;
  std::int64_t n_bytes;
  Access access;
};

std::vector<Row> rows_of(const ir::Loop& loop) {
  std::vector<Row> out;
  for (const Arg& arg : loop.args) {
    const auto* dat = std::get_if<ir::DirectDat>(&arg);
    if (dat == nullptr) continue;
    const auto n_bytes = dat->dim * static_cast<std::int64_t>(size_of(dat->dtype));
    out.push_back({dat->alias.data, n_bytes, dat->access});
  }
  return out;
}

/// Bytes of the rows that each item itself has in memory. Rows of several members count once.
class ItemBytes {
 public:
  explicit ItemBytes(const Known& known) : met_(static_cast<std::size_t>(known.n_aliases)) {
    for (const Entry& entry : known.entries) rows_.push_back(rows_of(entry.loop));
  }

  std::int64_t operator()(const std::vector<std::size_t>& loops) {
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

 private:
  /// The last call that met a Dat.
  struct Met {
    std::int64_t read = 0;
    std::int64_t written = 0;
  };

  std::vector<std::vector<Row>> rows_;  // [loop]
  std::vector<Met> met_;                // [data]
  std::int64_t n_asked_ = 0;
};

bool is_inverted(std::size_t loop, const Candidate& group) {
  const auto at = std::ranges::find(group.loops, loop) - group.loops.begin();
  return group.inverts(static_cast<std::size_t>(at));
}

/// Do both groups visit the items of the loop, and is the other one no action?
bool is_of_same_items(const Grouping& grouping, std::size_t loop, std::size_t from,
                      std::size_t to) {
  const int set = grouping.rules.set_of(grouping.groups[to]);
  return grouping.known.entries[loop].loop.set == set &&
         grouping.rules.set_of(grouping.groups[from]) == set &&
         !grouping.known.is_action(grouping.groups[to].loops.front());
}

/// Could the groups run one after the other if two of them had these loops?
bool has_order_with(Grouping& grouping, std::size_t one,
                    const std::vector<std::size_t>& loops_of_one, std::size_t other,
                    const std::vector<std::size_t>& loops_of_other) {
  grouping.order.put(one, loops_of_one);
  grouping.order.put(other, loops_of_other);
  const bool found = grouping.order.has_order();
  grouping.order.put(one, grouping.groups[one].loops);
  grouping.order.put(other, grouping.groups[other].loops);
  return found;
}

/// @param[in] less The loops of @p from without one.
/// @param[in] more Those of @p to, with it.
bool try_to_move(Grouping& grouping, std::size_t from, const std::vector<std::size_t>& less,
                 std::size_t to, const std::vector<std::size_t>& more) {
  if (!has_order_with(grouping, from, less, to, more)) return false;
  Candidate left = grouping.rules.regrouped(grouping.groups[from], less);
  if (!left.why.empty()) return false;
  Candidate grown = grouping.rules.regrouped(grouping.groups[to], more);
  if (!grown.why.empty()) return false;
  grouping.put(from, std::move(left));
  grouping.put(to, std::move(grown));
  return true;
}

}  // namespace

void regroup(Grouping& grouping) {
  ItemBytes item_bytes(grouping.known);
  std::vector<std::size_t> group_of(grouping.known.entries.size());
  std::vector<std::int64_t> bytes(grouping.groups.size());
  for (std::size_t group = 0; group < grouping.groups.size(); ++group) {
    for (const std::size_t loop : grouping.groups[group].loops) group_of[loop] = group;
    bytes[group] = item_bytes(grouping.groups[group].loops);
  }
  for (std::size_t loop = 0; loop < grouping.known.entries.size(); ++loop) {
    if (grouping.known.is_action(loop) || !grouping.known.entries[loop].why_alone.empty()) continue;
    const std::size_t from = group_of[loop];
    if (grouping.groups[from].loops.size() < 2 || is_inverted(loop, grouping.groups[from]))
      continue;
    std::vector<std::size_t> less = grouping.groups[from].loops;
    std::erase(less, loop);
    const std::int64_t left_bytes = item_bytes(less);
    const std::size_t end = std::min(grouping.groups.size(), from + 1 + most_groups_asked);
    for (std::size_t to = from - std::min(from, most_groups_asked); to < end; ++to) {
      if (to == from || !is_of_same_items(grouping, loop, from, to)) continue;
      if (!grouping.passes.rotate &&
          grouping.is_of_other_repetition(grouping.groups[to].loops, loop))
        continue;
      std::vector<std::size_t> more = grouping.groups[to].loops;
      more.insert(std::ranges::lower_bound(more, loop), loop);
      const std::int64_t grown_bytes = item_bytes(more);
      if (left_bytes + grown_bytes >= bytes[from] + bytes[to]) continue;
      if (!try_to_move(grouping, from, less, to, more)) continue;
      grouping.note("fuse", more, loop, "");
      grouping.note_rotated(more, loop);
      group_of[loop] = to;
      bytes[from] = left_bytes;
      bytes[to] = grown_bytes;
      break;
    }
  }
}

}  // namespace op2::chain
