// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_prepare.hpp"

#include <gtest/gtest.h>

#include "../ir/ast.hpp"
#include "ir/kernel_walk.hpp"

namespace op2::lower {
namespace {

using namespace ir::ast;

template <class Node>
int count(const ir::Body& body) {
  int n = 0;
  for (const ir::Stmt& stmt : body) {
    n += std::holds_alternative<Node>(stmt.node) ? 1 : 0;
    if (const auto* block = std::get_if<ir::Block>(&stmt.node)) n += count<Node>(block->body);
    if (const auto* branch = std::get_if<ir::If>(&stmt.node)) {
      n += count<Node>(branch->then_body) + count<Node>(branch->else_body);
    }
  }
  return n;
}

TEST(LanesPrepare, NamesAreUniqueAndC) {
  const ir::KernelBody made = prepared_for_lanes(kernel(
      {declare("t", number(), lit("1.0")),
       {ir::Block{{declare("t", number(), lit("2.0")), eval(assign(at("y", 0), name("t")))}}, 0}}));
  const auto& block = std::get<ir::Block>(made.entry().body[1].node);
  const auto& inner = std::get<ir::Declare>(block.body[0].node).variables.front();
  EXPECT_EQ(inner.name, "t_2");
}

TEST(LanesPrepare, EarlyReturnBecomesTheOtherBranch) {
  const ir::KernelBody made = prepared_for_lanes(kernel(
      {branch(less(at("x", 0), lit("0.0")), {give()}), eval(assign(at("y", 0), at("x", 0)))}));
  ASSERT_EQ(made.entry().body.size(), 1U);
  const auto& both = std::get<ir::If>(made.entry().body[0].node);
  EXPECT_TRUE(both.then_body.empty());
  EXPECT_EQ(both.else_body.size(), 1U);
  EXPECT_EQ(count<ir::Return>(made.entry().body), 0);
}

TEST(LanesPrepare, ReturnedValuesMeetInOneVariable) {
  ir::FunctionDef half = function(
      "half", {{"s", number()}},
      {branch(less(name("s"), lit("0.0")), {give(lit("0.0"))}), give(mul(lit("0.5"), name("s")))});
  half.result = number();
  const ir::KernelBody made = prepared_for_lanes(
      kernel({half, function("k", {{"x", pointer()}, {"y", pointer()}},
                             {eval(assign(at("y", 0), call("half", {at("x", 0)})))})}));
  const ir::Body& body = made.functions[0].body;
  ASSERT_TRUE(std::holds_alternative<ir::Return>(body.back().node));
  EXPECT_EQ(count<ir::Return>(body), 1);
}

ir::Stmt switch_of(bool runs_on) {
  ir::Switch node{cast(whole(), at("x", 0)), {}};
  ir::Body first{eval(assign(at("y", 0), lit("1.0")))};
  if (!runs_on) first.push_back({ir::Break{}, 0});
  node.cases.push_back({lit("0"), first});
  node.cases.push_back({std::nullopt, {eval(assign(at("y", 0), lit("2.0")))}});
  return {std::move(node), 0};
}

TEST(LanesPrepare, SwitchBecomesBranchesIfItsCasesEnd) {
  const ir::KernelBody ends = prepared_for_lanes(kernel({switch_of(false)}));
  EXPECT_EQ(count<ir::Switch>(ends.entry().body), 0);
  EXPECT_EQ(count<ir::If>(ends.entry().body), 1);
  const ir::KernelBody runs_on = prepared_for_lanes(kernel({switch_of(true)}));
  EXPECT_EQ(count<ir::Switch>(runs_on.entry().body), 1);
}

}  // namespace
}  // namespace op2::lower
