// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/team_calls.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "ast.hpp"
#include "kernel/make.hpp"
#include "kernel/teams.hpp"
#include "kernel/types.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

Type doubles(std::int64_t n) {
  Type type = number();
  type.derivation.push_back({.kind = Derivation::Kind::array, .extent = n});
  return type;
}

/// @brief A kernel that may call `twice(x)`, 8 entries of which a team doubles.
KernelBody with_team(Body body) {
  const Body work{loop(
      "q", 8, {eval(update(BinaryOp::multiply, make::index(name("v"), name("q")), lit("2.0")))})};
  KernelBody kernel =
      kernel_with({function("twice", {{"v", pointer()}}, Body(work)),
                   function("k", {{"x", pointer()}, {"y", pointer()}}, std::move(body))},
                  {});
  FunctionDef team = function("twice",
                              {{"v", pointer()},
                               {"lane", scalar(Base::int32)},
                               {"n_lanes", scalar(Base::int32)},
                               {"f", pointer()}},
                              Body(work));
  kernel.team_functions.push_back({.function = std::move(team), .n_lanes = 8, .n_shared = 5});
  return infer_types(std::move(kernel));
}

Stmt twice(const std::string& array) {
  return eval(call("twice", {name(array)}));
}

Stmt copy_of(const std::string& to, const std::string& from) {
  return loop("i", 8,
              {eval(assign(make::index(name(to), name("i")), make::index(name(from), name("i"))))});
}

int n_waits(const Body& body) {
  int n = 0;
  for_each_expr_in(body, [&n](const Expr& expr) {
    const auto* found = std::get_if<Call>(&expr.node);
    n += found != nullptr && found->function == team_barrier ? 1 : 0;
  });
  return n;
}

TEST(TeamCalls, StandBetweenBarriersAndGetSharedMemory) {
  const auto made = team_form_of_calls(with_team({twice("x")}));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->n_lanes, 8);
  EXPECT_EQ(made->n_shared, 5);
  EXPECT_EQ(made->base, Base::float64);
  EXPECT_EQ(made->shared_parameters, std::set<int>{0});
  const FunctionDef& entry = made->body.entry();
  ASSERT_EQ(entry.parameters.size(), 5U);
  EXPECT_TRUE(entry.parameters.back().type.is_shared);
  ASSERT_EQ(entry.body.size(), 3U);
  EXPECT_EQ(n_waits(entry.body), 2);
  const auto& done = std::get<Call>(std::get<Evaluate>(entry.body[1].node).value.node);
  EXPECT_EQ(done.function, made->body.functions.front().name);
  EXPECT_EQ(made->body.functions.size(), 2U);  // the function for one lane is left out
}

TEST(TeamCalls, SpreadLoopsThatStoreToEntriesOfTheirOwn) {
  const auto made = team_form_of_calls(with_team({twice("x"), copy_of("y", "x")}));
  ASSERT_TRUE(made);
  const Body& body = made->body.entry().body;
  ASSERT_EQ(body.size(), 5U);
  const auto& spread = std::get<For>(body[3].node);
  EXPECT_TRUE(std::holds_alternative<Assign>(spread.step->node));  // by the number of lanes
  EXPECT_EQ(n_waits(body), 3);
}

TEST(TeamCalls, LeaveOtherStoresToOneLane) {
  const Stmt first = eval(assign(at("y", 0), at("x", 0)));
  const Stmt second = eval(assign(at("y", 1), at("y", 0)));
  const auto made = team_form_of_calls(with_team({twice("x"), first, second}));
  ASSERT_TRUE(made);
  const Body& body = made->body.entry().body;
  ASSERT_EQ(body.size(), 5U);
  EXPECT_EQ(std::get<If>(body[3].node).then_body.size(), 2U);
  const Stmt shifted = loop("i", 7,
                            {eval(assign(make::index(name("x"), add(name("i"), lit("1"))),
                                         make::index(name("x"), name("i"))))});
  const auto in_order = team_form_of_calls(with_team({twice("x"), shifted}));
  ASSERT_TRUE(in_order);
  EXPECT_TRUE(std::holds_alternative<If>(in_order->body.entry().body[3].node));
}

TEST(TeamCalls, PlaceLocalArraysInSharedMemory) {
  const auto made = team_form_of_calls(with_team(
      {ast::declare("z", doubles(8), {}), copy_of("z", "x"), twice("z"), copy_of("y", "z")}));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->n_shared, 8 + 5);
  const auto& placed = std::get<Declare>(made->body.entry().body[0].node).variables.front();
  EXPECT_TRUE(placed.type.is_pointer());
  EXPECT_TRUE(placed.type.is_shared);
}

TEST(TeamCalls, WriteLoopsOutWhereLanesHaveArrays) {
  const auto loops_of = [](const std::string& first, bool has_array) {
    KernelBody kernel = with_team({twice("x")});
    Body& body = kernel.team_functions.front().function.body;
    Stmt by_lane = loop("t", 8, {});
    std::get<For>(by_lane.node).init = {ast::declare("t", scalar(Base::int32), name(first))};
    body.push_back(std::move(by_lane));
    if (has_array) body.push_back(ast::declare("own", doubles(12), {}));
    const auto made = team_form_of_calls(kernel);
    std::string found = fmt::format("{}:", made->n_own);
    for (const FunctionDef& one : made->body.functions) {
      if (one.name != "twice_team") continue;
      for (const Stmt& stmt : one.body) {
        const auto* loop = std::get_if<For>(&stmt.node);
        if (loop != nullptr) found += loop->is_unrolled ? "u" : "-";
      }
    }
    return found;
  };
  EXPECT_EQ(loops_of("lane", true), "12:u-");
  EXPECT_EQ(loops_of("n_lanes", true), "12:uu");
  EXPECT_EQ(loops_of("lane", false), "0:--");
}

TEST(TeamCalls, AreNotMadeWhereLanesCouldDiffer) {
  EXPECT_FALSE(team_form_of_calls(with_team({copy_of("y", "x")})));  // no call
  EXPECT_FALSE(team_form_of_calls(with_team({twice("x"), eval(call("unknown", {name("y")}))})));
  const Stmt walk = ast::declare("p", pointer(), name("x"));
  EXPECT_FALSE(team_form_of_calls(with_team({walk, twice("x")})));
  KernelBody within = with_team({twice("x")});
  within.functions.insert(within.functions.end() - 1,
                          function("outer", {{"v", pointer()}}, {twice("v")}));
  EXPECT_FALSE(team_form_of_calls(infer_types(std::move(within))));
}

TEST(TeamCalls, AreNotMadeWhereLanesWouldRepeatMore) {
  const Stmt alone = loop("i", 500, {eval(update(BinaryOp::add, at("y", 0), at("x", 0)))});
  EXPECT_FALSE(team_form_of_calls(with_team({twice("x"), alone})));
}

}  // namespace
}  // namespace op2::kernel
