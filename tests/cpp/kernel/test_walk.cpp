// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/walk.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ast.hpp"

namespace op2::kernel {
namespace {

TEST(ScopeStack, InnerNamesHideOuterOnes) {
  ScopeStack<int> scopes;
  scopes.enter();
  scopes.declare("a", 1);
  scopes.enter();
  scopes.declare("a", 2);
  EXPECT_EQ(*scopes.find("a"), 2);
  scopes.leave();
  EXPECT_EQ(*scopes.find("a"), 1);
  scopes.leave();
  EXPECT_EQ(scopes.find("a"), nullptr);
}

TEST(ScopeStack, ManyNamesAreFoundAndForgotten) {
  ScopeStack<std::string> scopes;
  scopes.enter();
  for (int i = 0; i < 1000; ++i) scopes.declare("t" + std::to_string(i), std::to_string(i));
  scopes.enter();
  scopes.declare("t7", "inner");
  scopes.declare("t7", "again");
  EXPECT_EQ(*scopes.find("t7"), "again");
  EXPECT_EQ(*scopes.find("t999"), "999");
  scopes.leave();
  EXPECT_EQ(*scopes.find("t7"), "7");
  scopes.leave();
  EXPECT_EQ(scopes.find("t999"), nullptr);
}

// Writes down what it is told.
struct Diary {
  std::string text;
  void enter() { text += "("; }
  void leave() { text += ")"; }
  void declare(const Variable& variable) { text.append("+").append(variable.name); }
  void expression(const Expr& expr) {
    for_each_expr(expr, [this](const Expr& part) {
      if (const auto* name = std::get_if<Name>(&part.node)) text += name->name;
    });
  }
};

TEST(WalkScoped, SeesEverythingInTheOrderOfTheText) {
  using namespace ast;
  const Body body{declare("a", whole(), name("a")),
                  loop("i", 2, {eval(name("b"))}),
                  branch(name("c"), {eval(name("d"))}, {eval(name("e"))}),
                  {.node = While{.condition = name("f"), .body = {eval(name("g"))}}},
                  {.node = Switch{.value = name("h"),
                                  .cases = {{.label = name("j"), .body = {eval(name("k"))}},
                                            {.label = std::nullopt, .body = {{.node = Break{}}}}}}},
                  {.node = Block{{{.node = Continue{}}}}},
                  give(name("r"))};
  Diary diary;
  walk_scoped(body, diary);
  EXPECT_EQ(diary.text, "+aa(+iii(b))c(d)(e)f(g)h(jk)()r");
}

TEST(ForEachExprIn, MayChangeWhatItSees) {
  using namespace ast;
  Body body{loop("i", 2, {eval(assign(at("x", 0), name("y")))})};
  std::vector<std::string> seen;
  for_each_expr_in(body, [&seen](Expr& expr) {
    auto* name = std::get_if<Name>(&expr.node);
    if (name == nullptr) return;
    seen.push_back(name->name);
    name->name = std::string("z");
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"i", "i", "x", "y"}));
  EXPECT_EQ(std::get<For>(body[0].node).body[0], eval(assign(at("z", 0), name("z"))));
}

}  // namespace
}  // namespace op2::kernel
