// SPDX-License-Identifier: BSD-3-Clause
#include "chain/known.hpp"

#include <algorithm>

#include "ir/group.hpp"

namespace op2::chain {

using ir::Arg;

Known::Known(const std::vector<Entry>& chain, const std::vector<int>& dats)
    : entries(chain), pinned(dats.begin(), dats.end()), target_sets_(chain.size()) {
  for (const Entry& entry : chain) {
    for (const Arg& arg : entry.loop.args) {
      const ir::Alias& alias = alias_of(arg);
      n_aliases = std::max({n_aliases, alias.data + 1, alias.memory + 1});
      shapes[alias.memory].insert(alias.data);
    }
    defines_.emplace_back(entry.loop.args.size());
  }
}

bool Known::is_alone(std::size_t loop, const ir::Alias& alias) const {
  const auto is_same = [&](const Arg& other) { return alias_of(other).memory == alias.memory; };
  return std::ranges::count_if(args_of(loop), is_same) == 1 && shapes.at(alias.memory).size() == 1;
}

bool Known::is_own(std::size_t loop, std::size_t arg) const {
  const Arg& node = args_of(loop)[arg];
  if (is_action(loop)) return writes(access_of(node));  // an action sets all
  if (!is_alone(loop, alias_of(node))) return false;
  std::optional<bool>& defines = defines_[loop][arg];
  if (!defines) defines = ir::defines(entries[loop].loop, arg);
  return *defines;
}

bool Known::is_changed(std::size_t loop, std::size_t arg) const {
  const Arg& node = args_of(loop)[arg];
  return !is_action(loop) && access_of(node) == Access::rw && is_alone(loop, alias_of(node)) &&
         ir::is_whole(entries[loop].loop, arg);
}

bool Known::adds_to(std::size_t loop, int set) const {
  const ir::Loop& one = entries[loop].loop;
  return one.set != set && std::ranges::any_of(one.args, [&](const Arg& arg) {
           const int map = target_map_of(arg);
           return map >= 0 && is_reduction(access_of(arg)) &&
                  one.maps[static_cast<std::size_t>(map)].toset == set;
         });
}

bool Known::writes_to(std::size_t loop, int data) const {
  return std::ranges::any_of(args_of(loop), [&](const Arg& arg) {
    return alias_of(arg).data == data && writes(access_of(arg));
  });
}

int Known::target_set(std::size_t loop) const {
  std::optional<int>& set = target_sets_[loop];
  if (!set) set = ir::inverted(entries[loop].loop).set;
  return *set;
}

}  // namespace op2::chain
