// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_prepare.hpp"

#include <gtest/gtest.h>

#include "../kernel/ast.hpp"
#include "kernel/walk.hpp"

namespace op2::lower {
namespace {

using namespace kernel::ast;

template <class Node>
int count(const kernel::Body& body) {
  int n = 0;
  for (const kernel::Stmt& stmt : body) {
    n += std::holds_alternative<Node>(stmt.node) ? 1 : 0;
    if (const auto* block = std::get_if<kernel::Block>(&stmt.node)) n += count<Node>(block->body);
    if (const auto* branch = std::get_if<kernel::If>(&stmt.node)) {
      n += count<Node>(branch->then_body) + count<Node>(branch->else_body);
    }
  }
  return n;
}

TEST(LanesPrepare, NamesAreUniqueAndC) {
  const kernel::KernelBody made = prepared_for_lanes(kernel_with(
      {declare("t", number(), lit("1.0")),
       {kernel::Block{{declare("t", number(), lit("2.0")), eval(assign(at("y", 0), name("t")))}},
        0}}));
  const auto& block = std::get<kernel::Block>(made.entry().body[1].node);
  const auto& inner = std::get<kernel::Declare>(block.body[0].node).variables.front();
  EXPECT_EQ(inner.name, "t_2");
}

TEST(LanesPrepare, EarlyReturnBecomesTheOtherBranch) {
  const kernel::KernelBody made = prepared_for_lanes(kernel_with(
      {branch(less(at("x", 0), lit("0.0")), {give()}), eval(assign(at("y", 0), at("x", 0)))}));
  ASSERT_EQ(made.entry().body.size(), 1U);
  const auto& both = std::get<kernel::If>(made.entry().body[0].node);
  EXPECT_TRUE(both.then_body.empty());
  EXPECT_EQ(both.else_body.size(), 1U);
  EXPECT_EQ(count<kernel::Return>(made.entry().body), 0);
}

TEST(LanesPrepare, ReturnedValuesMeetInOneVariable) {
  kernel::FunctionDef half = function(
      "half", {{"s", number()}},
      {branch(less(name("s"), lit("0.0")), {give(lit("0.0"))}), give(mul(lit("0.5"), name("s")))});
  half.result = number();
  const kernel::KernelBody made = prepared_for_lanes(
      kernel_with({half, function("k", {{"x", pointer()}, {"y", pointer()}},
                                  {eval(assign(at("y", 0), call("half", {at("x", 0)})))})}));
  const kernel::Body& body = made.functions[0].body;
  ASSERT_TRUE(std::holds_alternative<kernel::Return>(body.back().node));
  EXPECT_EQ(count<kernel::Return>(body), 1);
}

kernel::Stmt switch_of(bool runs_on) {
  kernel::Switch node{cast(whole(), at("x", 0)), {}};
  kernel::Body first{eval(assign(at("y", 0), lit("1.0")))};
  if (!runs_on) first.push_back({kernel::Break{}, 0});
  node.cases.push_back({lit("0"), first});
  node.cases.push_back({std::nullopt, {eval(assign(at("y", 0), lit("2.0")))}});
  return {std::move(node), 0};
}

TEST(LanesPrepare, SwitchBecomesBranchesIfItsCasesEnd) {
  const kernel::KernelBody ends = prepared_for_lanes(kernel_with({switch_of(false)}));
  EXPECT_EQ(count<kernel::Switch>(ends.entry().body), 0);
  EXPECT_EQ(count<kernel::If>(ends.entry().body), 1);
  const kernel::KernelBody runs_on = prepared_for_lanes(kernel_with({switch_of(true)}));
  EXPECT_EQ(count<kernel::Switch>(runs_on.entry().body), 1);
}

}  // namespace
}  // namespace op2::lower
