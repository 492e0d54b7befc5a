// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/teams.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "kernel/walk.hpp"
#include "sums.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

/// @brief A sum, a product with a value of the point, and the transposed sum.
Body action() {
  return {declare("s", number(), lit("0.0")),
          over_functions({eval(update(BinaryOp::add, name("s"), ast::product()))}),
          ast::transposed(name("s"))};
}

int n_barriers(const Body& body) {
  int n = 0;
  for_each_expr_in(body, [&n](const Expr& expr) {
    const auto* call = std::get_if<Call>(&expr.node);
    n += call != nullptr && call->function == team_barrier ? 1 : 0;
  });
  return n;
}

TEST(TeamForm, HasAPhaseForEachDimension) {
  const auto made = team_form(over_points(action()));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->n_lanes, 5);         // a lane for each point of the outer loop
  EXPECT_EQ(made->n_shared, 20 + 20);  // 5 points x 4 functions, forward and back
  EXPECT_EQ(made->base, Base::float64);
  EXPECT_EQ(n_barriers(made->body.entry().body), 3);
  const auto& parameters = made->body.entry().parameters;
  ASSERT_EQ(parameters.size(), 5U);
  EXPECT_TRUE(parameters.back().type.is_shared);
}

TEST(TeamForm, IsNoneWhereLanesWouldRepeatAStore) {
  EXPECT_FALSE(team_form(over_points(evaluation(ast::product()))));
  Body stores = action();
  stores.push_back(eval(assign(at(name("x"), lit("0")), lit("1.0"))));
  EXPECT_FALSE(team_form(over_points(std::move(stores))));
  KernelBody before = over_points(action());
  Body& body = before.functions.back().body;
  body.insert(body.begin(), eval(assign(at(name("y"), lit("0")), lit("1.0"))));
  EXPECT_FALSE(team_form(before));
}

TEST(TeamForm, IsNoneWhereTwoLanesAddToOnePlace) {
  const Expr overlapping = at(name("y"), add(name("i"), name("j")));
  const Expr value = mul(mul(at("x", 7), ast::entry("p", "i")), ast::entry("q", "j"));
  const auto form_with = [&value](const Expr& target) {
    return team_form(over_points({over_functions({eval(update(BinaryOp::add, target, value))})}));
  };
  EXPECT_TRUE(form_with(pair("y", 4, "i", "j")));
  EXPECT_FALSE(form_with(overlapping));
}

TEST(TeamForm, MarksTablesOfWhichLanesReadDifferentEntries) {
  Body with_table = {declare("s", number(), lit("0.0")),
                     over_functions({eval(update(BinaryOp::add, name("s"), ast::product()))}),
                     ast::transposed(mul(name("s"), ast::entry("p", "q")))};
  const auto other = team_form(over_points(std::move(with_table)));
  ASSERT_TRUE(other);
  EXPECT_TRUE(other->body.tables.front().is_by_lane);
  const auto made = team_form(over_points(action()));
  EXPECT_FALSE(made->body.tables.front().is_by_lane);
}

}  // namespace
}  // namespace op2::kernel
