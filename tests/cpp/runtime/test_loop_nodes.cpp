// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/loop_nodes.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "base/error.hpp"

namespace op2::runtime {
namespace {

class LoopNodesTest : public ::testing::Test {
 protected:
  static std::shared_ptr<LoopNode> some() { return std::make_shared<LoopNode>(LoopKernel{}); }

  LoopNodes nodes;
  std::shared_ptr<LoopNode> root = std::make_shared<LoopNode>(graph::IsRoot{});
  std::shared_ptr<LoopNode> all = std::make_shared<LoopNode>(graph::IsAggregate{});
};

TEST_F(LoopNodesTest, RunInTheOrderOfAddingWithoutRootAndAggregates) {
  const auto first = some();
  nodes.add(root);
  nodes.add(first);
  nodes.order(*first, *root);
  nodes.add(all);
  nodes.order(*all, *first);
  EXPECT_EQ(nodes.in_order().size(), 1U);
  EXPECT_EQ(all->details().before, std::vector<std::size_t>{1});
}

TEST_F(LoopNodesTest, WaitForLoopsByWayOfAggregatesAndNotForTheRoot) {
  const std::vector<std::shared_ptr<LoopNode>> loops = {some(), some(), some()};
  nodes.add(root);
  for (const auto& loop : {loops[0], loops[1]}) {
    nodes.add(loop);
    nodes.order(*loop, *root);
  }
  nodes.add(all);
  nodes.order(*all, *loops[1]);
  nodes.order(*all, *loops[0]);
  nodes.add(loops[2]);
  nodes.order(*loops[2], *all);
  nodes.order(*loops[2], *loops[1]);
  EXPECT_EQ(nodes.waits(), (std::vector<std::vector<std::size_t>>{{}, {}, {0, 1}}));
}

TEST_F(LoopNodesTest, HaveOneRootWhichIsFirst) {
  EXPECT_THROW(nodes.add(some()), InternalError);
  nodes.add(root);
  EXPECT_THROW(nodes.add(std::make_shared<LoopNode>(graph::IsRoot{})), InternalError);
  EXPECT_THROW(nodes.add(root), InternalError);
}

TEST_F(LoopNodesTest, AreOrderedAfterBothWereAddedToTheSameGraph) {
  const auto first = some();
  nodes.add(root);
  EXPECT_THROW(nodes.order(*first, *root), InternalError);
  nodes.add(first);
  EXPECT_THROW(nodes.order(*root, *first), InternalError);
  LoopNodes other;
  const auto other_root = std::make_shared<LoopNode>(graph::IsRoot{});
  other.add(other_root);
  EXPECT_THROW(nodes.order(*first, *other_root), InternalError);
  EXPECT_THROW(other.add(first), InternalError);
  EXPECT_THROW((void)nodes.in_order(), InternalError);  // it is not behind the root
}

}  // namespace
}  // namespace op2::runtime
