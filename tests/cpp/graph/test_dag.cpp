// SPDX-License-Identifier: BSD-3-Clause
#include "graph/dag.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/error.hpp"

namespace op2::graph {
namespace {

using Edges = std::vector<std::vector<std::size_t>>;

constexpr int u = 0;
constexpr int v = 1;

TEST(Dag, TwoThatWriteWithoutAnOrderAreARace) {
  const std::vector<Node> nodes{{{}, {{u, Access::write}}}, {{}, {{u, Access::rw}}}};
  EXPECT_EQ(races(nodes), (std::vector<Conflict>{{0, 1, u}}));
}

TEST(Dag, APathOrdersTwoNodes) {
  const std::vector<Node> nodes{
      {{}, {{u, Access::write}}}, {{0}, {{v, Access::write}}}, {{1}, {{u, Access::read}}}};
  EXPECT_TRUE(races(nodes).empty());
}

TEST(Dag, ReadersAndSumsMayChangePlaces) {
  for (const Access access : {Access::read, Access::inc, Access::min, Access::max}) {
    const std::vector<Node> nodes{{{}, {{u, access}}}, {{}, {{u, access}}}};
    EXPECT_TRUE(races(nodes).empty()) << name_of(access);
  }
}

TEST(Dag, ASumAndAMinimumMayNotChangePlaces) {
  const std::vector<Node> nodes{{{}, {{u, Access::inc}}}, {{}, {{u, Access::min}}}};
  EXPECT_EQ(races(nodes).size(), 1U);
}

TEST(Dag, APairIsReportedOnce) {
  const std::vector<Use> both{{u, Access::write}, {v, Access::write}};
  EXPECT_EQ(races({{{}, both}, {{}, both}}).size(), 1U);
}

TEST(Dag, ANodeWaitsOnlyForThoseBeforeIt) {
  EXPECT_THROW((void)races({{{0}, {}}}), UsageError);
  EXPECT_THROW((void)levels({{{}, {}}, {{2}, {}}, {{}, {}}}), UsageError);
  EXPECT_THROW((void)dependences({{{1}, {}}, {{}, {}}}), UsageError);
}

TEST(Dag, LevelsAreLongestPaths) {
  const std::vector<Node> nodes{{{}, {}}, {{0}, {}}, {{0}, {}}, {{1, 2}, {}}, {{0, 3}, {}}};
  EXPECT_EQ(levels(nodes), (std::vector<std::size_t>{0, 1, 1, 2, 3}));
}

TEST(Dag, DependencesOrderWritersReadersAndSums) {
  const std::vector<Node> nodes{
      {{}, {{u, Access::write}}},  // 0
      {{}, {{u, Access::read}}},   // 1 after 0
      {{}, {{u, Access::read}}},   // 2 after 0
      {{}, {{u, Access::inc}}},    // 3 after both readers
      {{}, {{u, Access::inc}}},    // 4 likewise: sums may change places
      {{}, {{u, Access::read}, {v, Access::write}}},
  };
  EXPECT_EQ(dependences(nodes), (Edges{{}, {0}, {0}, {1, 2}, {1, 2}, {3, 4}}));
}

/// By definition, for a few nodes.
std::vector<Conflict> by_brute_force(const std::vector<Node>& nodes) {
  std::vector<std::vector<bool>> before(nodes.size(), std::vector<bool>(nodes.size()));
  std::vector<Conflict> out;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::size_t one : nodes[i].after) {
      before[i][one] = true;
      for (std::size_t j = 0; j < one; ++j) before[i][j] = before[i][j] || before[one][j];
    }
    for (std::size_t j = 0; j < i; ++j) {
      bool conflict = false;
      for (const Use& left : nodes[j].uses) {
        for (const Use& right : nodes[i].uses) {
          conflict |= left.memory == right.memory && conflicts(left.access, right.access);
        }
      }
      if (conflict && !before[i][j]) out.push_back({j, i, 0});
    }
  }
  return out;
}

std::vector<Node> random_nodes(std::mt19937& random, std::size_t n, int n_memories) {
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < n; ++i) {
    Node node;
    for (std::size_t j = 0; j < i; ++j) {
      if (random() % n < 2) node.after.push_back(j);
    }
    for (int k = 0; k < 2; ++k) {
      node.uses.push_back({static_cast<int>(random() % static_cast<unsigned>(n_memories)),
                           static_cast<Access>(1 + random() % 6)});
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

TEST(Dag, FindsWhatBruteForceFinds) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const std::vector<Node> nodes = random_nodes(random, 2 + random() % 40, 4);
    const std::vector<Conflict> expected = by_brute_force(nodes);
    const std::vector<Conflict> found = races(nodes);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].earlier, expected[i].earlier);
      EXPECT_EQ(found[i].later, expected[i].later);
    }
  }
}

TEST(Dag, DerivedEdgesLeaveNoRace) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Node> nodes = random_nodes(random, 2 + random() % 40, 4);
    for (Node& node : nodes) node.after.clear();
    const Edges edges = dependences(nodes);
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].after = edges[i];
    EXPECT_TRUE(races(nodes).empty());
  }
}

/// More nodes than are looked at together: the first and the last one meet across that border.
TEST(Dag, LooksAtAllOfALargeGraph) {
  constexpr std::size_t n = 10'000;
  std::vector<Node> nodes{{{}, {{u, Access::write}}}};
  for (std::size_t i = 1; i < n; ++i) nodes.push_back({{i - 1}, {{v, Access::rw}}});
  nodes.push_back({{n - 1}, {{u, Access::read}}});
  EXPECT_TRUE(races(nodes).empty());
  nodes.back().after = {};
  EXPECT_EQ(races(nodes), (std::vector<Conflict>{{0, n, u}}));
}

}  // namespace
}  // namespace op2::graph
