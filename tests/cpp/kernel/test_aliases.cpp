// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/aliases.hpp"

#include <gtest/gtest.h>

#include "ast.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

Aliases aliases_of(Body body) {
  return Aliases(kernel_with(std::move(body)).entry());
}

TEST(Aliases, FollowPointersThroughLocals) {
  const Aliases aliases =
      aliases_of({declare("p", pointer(), add(name("x"), lit("4"))),
                  declare("q", pointer(), name("p")), declare("a", array(number(), 2))});
  EXPECT_EQ(aliases.of(at("q", 1)), ParameterSet{0});
  EXPECT_EQ(aliases.of(unary(UnaryOp::address, at("y", 1))), ParameterSet{1});
  EXPECT_EQ(aliases.of(at("a", 1)), ParameterSet{});
}

TEST(Aliases, ValuesThatStartAnArrayAreCopies) {
  const auto list = [](std::vector<Expr> items) {
    return Expr{.node = InitList{}, .operands = std::move(items), .type = {}};
  };
  const Aliases aliases =
      aliases_of({declare("v", array(number(), 2), list({at("x", 0), lit("1")})),
                  declare("p", array(pointer(), 1), list({name("y")})),
                  declare("m", array(array(number(), 1), 1), list({list({at("x", 0)})}))});
  EXPECT_EQ(aliases.of(at("v", 1)), ParameterSet{});
  EXPECT_EQ(aliases.of(at("p", 0)), ParameterSet{1});
  EXPECT_EQ(aliases.of(at("m", 0)), ParameterSet{});
}

TEST(Aliases, AnArrayOfNumbersHoldsNoPointers) {
  // The type of a choice is unknown where that of a Const in it is.
  Expr items{.node = InitList{}, .operands = {}, .type = {}};
  items.operands.push_back(ternary(lit("1"), at("x", 0), name("scale")));
  const Aliases aliases = aliases_of({declare("v", array(number(), 1), std::move(items))});
  EXPECT_EQ(aliases.of(at("v", 0)), ParameterSet{});
}

TEST(Aliases, DoNotDependOnTheOrderOfStatements) {
  const Aliases aliases = aliases_of(
      {declare("p", pointer()), declare("q", pointer()), eval(assign(name("p"), name("q"))),
       eval(assign(name("q"), name("x"))), eval(assign(name("q"), name("y")))});
  EXPECT_EQ(aliases.of(name("p")), (ParameterSet{0, 1}));
}

TEST(Aliases, AStoreOfAPointerMayReachAnyPointer) {
  const Aliases aliases =
      aliases_of({declare("table", array(pointer(), 2)), declare("p", pointer()),
                  eval(assign(at("table", 0), name("x"))), declare("n", whole(), lit("0"))});
  EXPECT_EQ(aliases.of(at("table", 1)), ParameterSet{0});
  EXPECT_EQ(aliases.of(name("p")), ParameterSet{0});
  EXPECT_EQ(aliases.of(name("n")), ParameterSet{});
}

TEST(Aliases, ANumberPointsNowhere) {
  const Aliases aliases = aliases_of({});
  Expr sum = add(at("x", 0), at("y", 0));
  sum.type = number();
  EXPECT_EQ(aliases.of(sum), ParameterSet{});
  EXPECT_EQ(aliases.of(ternary(name("n"), name("x"), name("y"))), (ParameterSet{0, 1}));
}

}  // namespace
}  // namespace op2::kernel
