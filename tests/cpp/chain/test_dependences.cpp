// SPDX-License-Identifier: BSD-3-Clause
#include "chain/dependences.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace op2::chain {
namespace {

using Members = std::vector<std::vector<std::size_t>>;

struct Use {
  int memory;
  Access access;
};

ir::Loop using_memory(const std::vector<Use>& uses) {
  ir::Loop out;
  for (const auto& [memory, access] : uses) {
    out.args.push_back({ir::DirectDat{DType::float64, 1, access, {memory, memory}}});
  }
  return out;
}

const ir::Loop sum = using_memory({{0, Access::inc}, {1, Access::read}});
const ir::Loop least = using_memory({{0, Access::min}});
const ir::Loop take = using_memory({{0, Access::read}, {1, Access::write}});
const ir::Loop show = using_memory({{1, Access::read}});

/// Loops over few places in memory, so that many depend on each other.
std::vector<ir::Loop> random_chain(std::size_t n_loops, std::mt19937& random) {
  std::vector<ir::Loop> out;
  for (std::size_t loop = 0; loop < n_loops; ++loop) {
    std::vector<Use> uses(1 + random() % 2);
    for (Use& use : uses) {
      use = {static_cast<int>(random() % 12), static_cast<Access>(1 + random() % 6)};
    }
    out.push_back(using_memory(uses));
  }
  return out;
}

std::vector<const ir::Loop*> pointers_to(const std::vector<ir::Loop>& chain) {
  std::vector<const ir::Loop*> out;
  for (const ir::Loop& loop : chain) out.push_back(&loop);
  return out;
}

Groups grouped(const std::vector<ir::Loop>& chain, const Members& members) {
  Groups out(all_dependences(pointers_to(chain)));
  for (const std::vector<std::size_t>& loops : members) out.add(loops);
  return out;
}

/// Some of the loops, each in one group.
Members random_groups(std::size_t n_loops, std::size_t n_groups, std::mt19937& random) {
  Members out(n_groups);
  for (std::size_t loop = 0; loop < n_loops; ++loop) out[random() % n_groups].push_back(loop);
  return out;
}

/// What the classes find with sets, by looking at each pair of loops.
struct ByPairs {
  const std::vector<ir::Loop>& chain;
  const Members& groups;

  bool needs(std::size_t earlier, std::size_t later) const {
    return earlier < later && depends(chain[earlier], chain[later]);
  }

  bool needs_group(std::size_t group, std::size_t loop) const {
    return std::ranges::any_of(groups[group],
                               [&](std::size_t member) { return needs(member, loop); });
  }

  bool group_depends(std::size_t earlier, std::size_t later) const {
    return earlier != later && std::ranges::any_of(groups[later], [&](std::size_t loop) {
             return needs_group(earlier, loop);
           });
  }

  std::vector<bool> followers(std::size_t from) const {
    std::vector<bool> out(groups.size(), false);
    std::vector<std::size_t> open{from};
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      for (std::size_t group = 0; group < groups.size(); ++group) {
        if (out[group] || !group_depends(at, group)) continue;
        out[group] = true;
        open.push_back(group);
      }
    }
    return out;
  }

  bool has_order() const {
    for (std::size_t group = 0; group < groups.size(); ++group) {
      if (followers(group)[group]) return false;
    }
    return true;
  }
};

TEST(Dependences, SumsIntoOneDatChangePlaces) {
  EXPECT_FALSE(depends(sum, sum));
  EXPECT_FALSE(depends(least, least));
  EXPECT_TRUE(depends(sum, least));
  EXPECT_TRUE(depends(sum, take));
  EXPECT_TRUE(depends(take, sum));
  EXPECT_FALSE(depends(show, show));
}

TEST(Dependences, OfAChainAreThoseOfItsPairs) {
  std::mt19937 random(1);
  const std::vector<ir::Loop> chain = random_chain(150, random);
  const std::vector<LoopSet> found = all_dependences(pointers_to(chain));
  for (std::size_t later = 0; later < chain.size(); ++later) {
    for (std::size_t earlier = 0; earlier < chain.size(); ++earlier) {
      const bool expected = earlier < later && depends(chain[earlier], chain[later]);
      ASSERT_EQ(found[later].contains(earlier), expected) << earlier << " before " << later;
    }
  }
}

TEST(LoopSet, HoldsWhatWasPutIn) {
  LoopSet some(130);
  LoopSet others(130);
  some.insert(3);
  some.insert(129);
  others.insert(129);
  EXPECT_TRUE(some.contains(129));
  EXPECT_FALSE(some.contains(128));
  EXPECT_TRUE(some.meets(others));
  EXPECT_TRUE(others.is_within(some));
  EXPECT_FALSE(some.is_within(others));
  some.erase_all(others);
  EXPECT_FALSE(some.meets(others));
  EXPECT_TRUE(some.contains(3));
  others.insert_all(some);
  EXPECT_TRUE(some.is_within(others));
}

TEST(GroupsOfAChain, OfThreeOneLeadsAroundToTheLast) {
  const std::vector<ir::Loop> chain{sum, take, show};
  Groups groups = grouped(chain, {{0}, {1}});
  EXPECT_EQ(groups.lead_around_to_loop(2), (std::vector<bool>{true, false}));
  groups.add({2});
  EXPECT_TRUE(groups.leads_around(0, 2));
  EXPECT_FALSE(groups.leads_around(1, 2));
  groups.put(0, {0, 2});  // the loop between them has to come in between
  groups.erase(2);
  EXPECT_FALSE(groups.has_order());
}

TEST(GroupsOfAChain, OfRandomLoopsAreOrderedAsPairsOfLoopsSay) {
  std::mt19937 random(2);
  int n_ordered = 0;
  for (int round = 0; round < 400; ++round) {
    const std::size_t n_loops = 2 + random() % 12;
    const std::vector<ir::Loop> chain = random_chain(n_loops, random);
    const Members members = random_groups(n_loops - 1, 1 + random() % 6, random);
    const Groups groups = grouped(chain, members);
    const ByPairs expected{chain, members};
    ASSERT_EQ(groups.has_order(), expected.has_order());
    if (!expected.has_order()) continue;
    ++n_ordered;
    const std::vector<bool> apart = groups.lead_around_to_loop(n_loops - 1);
    for (std::size_t from = 0; from < members.size(); ++from) {
      const std::vector<bool> after = expected.followers(from);
      bool is_apart = false;
      for (std::size_t between = 0; between < members.size(); ++between) {
        is_apart |= after[between] && expected.needs_group(between, n_loops - 1);
      }
      ASSERT_EQ(apart[from], is_apart);
      for (std::size_t to = 0; to < members.size(); ++to) {
        ASSERT_EQ(groups.depends(from, to), expected.group_depends(from, to));
        if (from == to) continue;
        bool leads = false;
        for (std::size_t between = 0; between < members.size(); ++between) {
          leads |= after[between] && between != to && expected.group_depends(between, to);
        }
        ASSERT_EQ(groups.leads_around(from, to), leads);
      }
    }
  }
  EXPECT_GT(n_ordered, 100);
}

TEST(GroupsOfAChain, OfSeveralThatMayComeNextTheFirstIsNext) {
  const std::vector<ir::Loop> chain{take, show, sum, show};
  const Groups groups = grouped(chain, {{3}, {1, 2}, {0}});
  EXPECT_EQ(groups.in_order(), (std::vector<std::size_t>{2, 0, 1}));
}

}  // namespace
}  // namespace op2::chain
