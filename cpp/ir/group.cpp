// SPDX-License-Identifier: BSD-3-Clause
#include "ir/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "kernel/constants.hpp"
#include "kernel/stores.hpp"

namespace op2::ir {
namespace {

void check_numbered_together(const Loop& first, const Loop& other) {
  const bool is_alike = first.maps == other.maps && first.constants == other.constants &&
                        first.iteration == other.iteration && first.set == other.set &&
                        other.members.size() == 1;
  if (is_alike) return;
  throw InternalError(fmt::format("'{}' and '{}' are not numbered together, or visit other items",
                                  name_of(first), name_of(other)));
}

/// Of the Consts that all loops list together those that @p kernel uses.
std::vector<int> constants_used(const kernel::Kernel& kernel,
                                const std::vector<ConstRef>& constants) {
  std::vector<int> used;
  if (!kernel.body || constants.empty()) return used;
  const std::vector<std::string> names = free_names(*kernel.body);
  for (std::size_t i = 0; i < constants.size(); ++i) {
    if (std::ranges::binary_search(names, constants[i].name)) used.push_back(static_cast<int>(i));
  }
  return used;
}

void add_loop(Group& group, const Loop& loop) {
  const int number = static_cast<int>(group.members.size());
  Member member = loop.members.front();
  member.constants = constants_used(*member.kernel, loop.constants);
  group.members.push_back(std::move(member));
  for (const Operand& operand : loop.args) {
    group.args.push_back(operand);
    group.args.back().member = number;
  }
}

bool is_indirect_sum(const Arg& arg) {
  return target_map_of(arg) >= 0 && access_of(arg) == Access::inc;
}

/// Both touch the item's own row, in one way. What is visited by incidences has elements of its
/// own; the cells of a column share a row, which other cells use, too, before the next member does.
bool is_same_row(const Group& group, std::size_t i, std::size_t j) {
  if (group.iteration.layers != Layers::none) return false;
  const auto* one = std::get_if<DirectDat>(&group.args[i]);
  const auto* other = std::get_if<DirectDat>(&group.args[j]);
  return !is_at_incidences(group, i) && !is_at_incidences(group, j) && one != nullptr &&
         other != nullptr && one->alias == other->alias && one->dim == other->dim &&
         one->stride == other->stride && one->component == other->component;
}

/// A sum over an item's incidences is complete when the next member gets there.
bool is_own_sum(const Group& group, std::size_t sum, std::size_t later) {
  const auto* dat = std::get_if<IndirectDat>(&group.args[sum]);
  const auto* direct = std::get_if<DirectDat>(&group.args[later]);
  return dat != nullptr && direct != nullptr && is_at_incidences(group, sum) &&
         !is_at_incidences(group, later) && is_reduction(dat->access) &&
         dat->alias == direct->alias && dat->dim == direct->dim && dat->stride == direct->stride &&
         dat->component == direct->component &&
         group.maps[static_cast<std::size_t>(dat->map)].toset == group.set;
}

bool reduces_alike(const Arg& left, const Arg& right) {
  if (is_indirect_sum(left) && is_indirect_sum(right)) return true;
  return std::holds_alternative<GlobalReduce>(left) &&
         std::holds_alternative<GlobalReduce>(right) && alias_of(left) == alias_of(right) &&
         access_of(left) == access_of(right);
}

bool may_follow(const Group& group, std::size_t i, std::size_t j) {
  const Arg& left = group.args[i];
  const Arg& right = group.args[j];
  if (alias_of(left).memory != alias_of(right).memory) return true;
  if (!writes(access_of(left)) && !writes(access_of(right))) return true;
  return is_same_row(group, i, j) || reduces_alike(left, right) || is_own_sum(group, i, j);
}

std::string described(const Group& group, std::size_t arg) {
  const kernel::Kernel& kernel = kernel_of(group, arg);
  const auto at = static_cast<std::size_t>(parameter_of(group, arg));
  return fmt::format("arg {} ('{}') of '{}'", at,
                     at < kernel.parameters.size() ? kernel.parameters[at].name : "", kernel.name);
}

/// Are all elements of the argument's Set visited, and nothing else? The iteration is that of the
/// elements where a member is visited by incidences; the others go over all items then.
bool is_plain(const Group& group, std::size_t arg) {
  if (is_inverted(group)) return !is_at_incidences(group, arg);
  return !group.iteration.subset && group.iteration.layers == Layers::none;
}

/// What a call of its kernel leaves behind in the parameter that the argument is bound to.
const kernel::LeftBehind& left_in(const Group& group, std::size_t arg) {
  return left_behind(kernel_of(group, arg))[static_cast<std::size_t>(parameter_of(group, arg))];
}

int set_of(const Group& group, const Arg& arg) {
  return std::visit(overload{
                        [&group](const DirectDat&) { return group.set; },
                        [&group](const IndirectDat& dat) {
                          return group.maps[static_cast<std::size_t>(dat.map)].toset;
                        },
                        [](const auto& /*global*/) { return no_set; },
                    },
                    arg);
}

/// Walks the members in their order and gives versions numbers.
class Numbering {
 public:
  explicit Numbering(Group& group) : group_(group) {
    group_.values.clear();
    for (Operand& operand : group_.args) operand.reads = operand.writes = no_value;
  }

  void run() {
    for (std::size_t member = 0; member < group_.members.size(); ++member) {
      for_args(member, [this](std::size_t arg) { read(arg); });
      made_.clear();
      for_args(member, [this](std::size_t arg) { write(arg); });
    }
  }

 private:
  template <class Visit>
  void for_args(std::size_t member, const Visit& visit) {
    for (std::size_t arg = 0; arg < group_.args.size(); ++arg) {
      if (member_of(group_, arg) == member) visit(arg);
    }
  }

  int add(std::size_t arg, int version) {
    const Arg& node = group_.args[arg];
    group_.values.push_back(
        {set_of(group_, node), dtype_of(node), dim_of(node), alias_of(node), version, true});
    return static_cast<int>(group_.values.size()) - 1;
  }

  int current(std::size_t arg) {
    const int data = alias_of(group_.args[arg]).data;
    const auto known = current_.find(data);
    return known != current_.end() ? known->second : current_[data] = add(arg, 0);
  }

  void read(std::size_t arg) {
    if (!defines(group_, arg)) group_.args[arg].reads = current(arg);
  }

  /// Arguments of one member that write the same Dat make one version of it together.
  void write(std::size_t arg) {
    if (!writes(access_of(group_.args[arg]))) return;
    const int data = alias_of(group_.args[arg]).data;
    if (!made_.contains(data)) {
      const int version = group_.values[static_cast<std::size_t>(current(arg))].version;
      made_[data] = add(arg, version + 1);
    }
    current_[data] = group_.args[arg].writes = made_[data];
  }

  Group& group_;
  std::map<int, int> current_;  // of each Dat the version that holds now
  std::map<int, int> made_;     // ... that the member makes
};

}  // namespace

Group fused(const std::vector<Loop>& loops) {
  Group group = joined(loops);
  number_values(group);
  return group;
}

Group joined(const std::vector<Loop>& loops) {
  if (loops.empty()) throw InternalError("a Group of no loops");
  const Loop& first = loops.front();
  Group group;
  group.maps = first.maps;
  group.constants = first.constants;
  group.iteration = first.iteration;
  group.set = first.set;
  for (const Loop& loop : loops) {
    check_numbered_together(first, loop);
    add_loop(group, loop);
  }
  return group;
}

std::string why_not_fused(const Group& group) {
  for (std::size_t j = 0; j < group.args.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (member_of(group, i) == member_of(group, j) || may_follow(group, i, j)) continue;
      return fmt::format("{} and {} share memory that one of them writes, and not item by item",
                         described(group, i), described(group, j));
    }
  }
  return "";
}

Group inverted(const Group& group) {
  if (is_inverted(group)) return group;
  const auto reduced = std::ranges::find_if(group.args, [](const Arg& arg) {
    return target_map_of(arg) >= 0 && is_reduction(access_of(arg));
  });
  if (group.members.size() != 1 || reduced == group.args.end()) {
    throw InternalError(fmt::format("'{}' cannot be inverted", name_of(group)));
  }
  Group out = group;
  out.members.front().visit = Visit::incidences;
  out.set = out.maps[static_cast<std::size_t>(target_map_of(*reduced))].toset;
  return out;
}

Group alone(const Group& group, std::size_t member) {
  Group out;
  out.members = {{group.members[member].kernel, group.members[member].visit}};
  out.maps = group.maps;
  out.iteration = group.iteration;
  out.set = group.set;
  for (const int constant : constants_of(group, member)) {
    out.constants.push_back(group.constants[static_cast<std::size_t>(constant)]);
  }
  for (const Operand& one : group.args) {
    if (one.member != static_cast<int>(member)) continue;
    out.args.push_back({one, one.parameter, one.place});
    out.args.back().is_before = one.is_before;
  }
  return out;
}

std::vector<std::size_t> inverted_members(const Group& group) {
  std::vector<std::size_t> found;
  for (std::size_t member = 0; member < group.members.size(); ++member) {
    if (group.members[member].visit == Visit::incidences) found.push_back(member);
  }
  return found;
}

bool is_inverted(const Group& group) {
  return std::ranges::find(group.members, Visit::incidences, &Member::visit) != group.members.end();
}

bool is_at_incidences(const Group& group, std::size_t arg) {
  return group.members[member_of(group, arg)].visit == Visit::incidences;
}

bool is_summed(const Group& group, std::size_t arg) {
  if (target_map_of(group.args[arg]) < 0 || !is_reduction(access_of(group.args[arg]))) return false;
  return !is_inverted(group) || is_at_incidences(group, arg);
}

bool is_whole(const Group& group, std::size_t arg) {
  const auto* dat = std::get_if<DirectDat>(&group.args[arg]);
  return dat != nullptr && stride_of(*dat) == dat->dim && is_plain(group, arg) &&
         kernel_of(group, arg).body && !is_part(group, arg);
}

bool defines(const Group& group, std::size_t arg) {
  return is_whole(group, arg) &&
         overwrites(kernel_of(group, arg), static_cast<std::size_t>(parameter_of(group, arg)),
                    dim_of(group.args[arg]), access_of(group.args[arg]));
}

bool leaves_zero(const Group& group, std::size_t arg) {
  if (!writes(access_of(group.args[arg])) || !is_whole(group, arg)) return false;
  return left_in(group, arg).n_zero() >= dim_of(group.args[arg]);
}

std::optional<std::size_t> copied_from(const Group& group, std::size_t arg) {
  if (!defines(group, arg)) return std::nullopt;
  const kernel::CopiedPrefix copied = left_in(group, arg).copy();
  if (copied.n < dim_of(group.args[arg])) return std::nullopt;
  for (std::size_t i = 0; i < group.args.size(); ++i) {
    const bool is_source =
        member_of(group, i) == member_of(group, arg) && parameter_of(group, i) == copied.source;
    if (!is_source) continue;
    const bool is_same_shape = is_whole(group, i) && access_of(group.args[i]) == Access::read &&
                               dtype_of(group.args[i]) == dtype_of(group.args[arg]) &&
                               stored_of(group.args[i]) == stored_of(group.args[arg]) &&
                               dim_of(group.args[i]) == dim_of(group.args[arg]);
    return is_same_shape ? std::optional(i) : std::nullopt;
  }
  return std::nullopt;
}

bool starts_at_zero(const Group& group, std::size_t arg) {
  const int value = group.args[arg].reads;
  return value != no_value && group.values[static_cast<std::size_t>(value)].is_zero;
}

void number_values(Group& group) {
  Numbering(group).run();
}

bool is_handed_on(const Group& group, std::size_t arg) {
  if (!std::holds_alternative<DirectDat>(group.args[arg])) return false;
  bool is_written = false;
  bool is_shared = false;
  for (std::size_t i = 0; i < group.args.size(); ++i) {
    if (alias_of(group.args[i]).data != alias_of(group.args[arg]).data) continue;
    is_written |= writes(access_of(group.args[i]));
    is_shared |= member_of(group, i) != member_of(group, arg);
  }
  return is_written && is_shared;
}

bool is_stored(const Group& group, std::size_t arg) {
  bool stored = true;
  for (const Operand& one : group.args) {
    if (one.writes == no_value || alias_of(one).data != alias_of(group.args[arg]).data) continue;
    stored = group.values[static_cast<std::size_t>(one.writes)].stored;  // the last one decides
  }
  return stored;
}

}  // namespace op2::ir
