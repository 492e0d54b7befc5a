// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/plain.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "ast.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

Expr post(const std::string& of) {
  return unary(UnaryOp::post_increment, name(of));
}
Expr logical(BinaryOp op, Expr left, Expr right) {
  return binary(op, std::move(left), std::move(right));
}
Stmt plus_plus(Expr place) {
  return eval(unary(UnaryOp::post_increment, std::move(place)));
}
Type flag() {
  return whole();
}

// The plain form of `k(double *x, double *y)` with `int i, j` declared first, without those.
Body plain_of(Body body, Body more = {}) {
  Body whole_body{declare("i", whole(), lit("0")), declare("j", whole(), lit("0"))};
  whole_body.insert(whole_body.end(), more.begin(), more.end());
  const auto n = static_cast<std::ptrdiff_t>(whole_body.size());
  whole_body.insert(whole_body.end(), body.begin(), body.end());
  KernelBody made = plain(kernel_with(std::move(whole_body)));
  Body& all = made.functions.back().body;
  return {all.begin() + n, all.end()};
}

// The same statements with types.
Body typed(Body body, Body more = {}) {
  Body whole_body{declare("i", whole(), lit("0")), declare("j", whole(), lit("0"))};
  whole_body.insert(whole_body.end(), more.begin(), more.end());
  const auto n = static_cast<std::ptrdiff_t>(whole_body.size());
  whole_body.insert(whole_body.end(), body.begin(), body.end());
  const KernelBody made = kernel_with(std::move(whole_body));
  const Body& all = made.entry().body;
  return {all.begin() + n, all.end()};
}

TEST(Plain, WhatIsPlainStaysAsItIs) {
  const Body body{plus_plus(name("i")),
                  eval(update(BinaryOp::add, at("x", 0), call("sqrt", {at("y", 1)}))),
                  eval(assign(at("x", 1), call("unknown", {name("y")}))),
                  eval(call("unknown", {name("y")})),
                  loop("n", 3, {eval(assign(at(name("x"), name("n")), lit("1.0")))}),
                  branch(logical(BinaryOp::logical_and, name("i"), name("j")), {give()})};
  EXPECT_EQ(plain_of(body), typed(body));
}

TEST(Plain, StepsOfSubscriptsComeOneAfterTheOther) {
  const Body made = plain_of({eval(assign(at(name("x"), post("i")), at(name("y"), post("j"))))});
  EXPECT_EQ(
      made,
      typed({declare("op2_value1", whole(), name("i")), plus_plus(name("i")),
             declare("op2_value2", whole(), name("j")), plus_plus(name("j")),
             eval(assign(at(name("x"), name("op2_value1")), at(name("y"), name("op2_value2"))))}));
}

TEST(Plain, AStepBeforeItsUseNeedsNoLocal) {
  const Body made =
      plain_of({eval(assign(at(name("x"), unary(UnaryOp::pre_increment, name("i"))), lit("2.0")))});
  EXPECT_EQ(made, typed({eval(unary(UnaryOp::pre_increment, name("i"))),
                         eval(assign(at(name("x"), name("i")), lit("2.0")))}));
}

TEST(Plain, AssignmentsInARowStoreOneConvertedValue) {
  const Body more{declare("a", array(scalar(Base::float32), 2))};
  const Body made = plain_of({eval(assign(at("x", 0), assign(at("a", 1), at("y", 0))))}, more);
  EXPECT_EQ(made, typed({declare("op2_value1", scalar(Base::float32), at("y", 0)),
                         eval(assign(at("a", 1), name("op2_value1"))),
                         eval(assign(at("x", 0), name("op2_value1")))},
                        more));
}

TEST(Plain, WhatACallMayChangeIsHeldBefore) {
  const KernelBody made = plain(
      kernel_with({{.name = "f",
                    .result = number(),
                    .parameters = {{"p", pointer()}},
                    .body = {plus_plus(at("p", 0)), give(lit("1.0"))}},
                   function("k", {{"x", pointer()}, {"y", pointer()}},
                            {eval(assign(at("y", 0), add(at("x", 0), call("f", {name("x")}))))})}));
  const KernelBody expected = kernel_with(
      {{.name = "f",
        .result = number(),
        .parameters = {{"p", pointer()}},
        .body = {plus_plus(at("p", 0)), give(lit("1.0"))}},
       function("k", {{"x", pointer()}, {"y", pointer()}},
                {declare("op2_value1", number(), at("x", 0)),
                 declare("op2_value2", number(), call("f", {name("x")})),
                 eval(assign(at("y", 0), add(name("op2_value1"), name("op2_value2"))))})});
  EXPECT_EQ(made, expected);
}

TEST(Plain, EffectsBehindAnAndHappenOnlyIfTheLeftSideHolds) {
  const Body made = plain_of(
      {branch(logical(BinaryOp::logical_and, less(name("i"), lit("3")), post("j")), {give()})});
  EXPECT_EQ(made,
            typed({declare("op2_value1", flag(), less(name("i"), lit("3"))),
                   branch(name("op2_value1"),
                          {declare("op2_value2", whole(), name("j")), plus_plus(name("j")),
                           eval(assign(name("op2_value1"),
                                       unary(UnaryOp::logical_not,
                                             unary(UnaryOp::logical_not, name("op2_value2")))))}),
                   branch(name("op2_value1"), {give()})}));
}

TEST(Plain, AnOrWhoseValueIsNotUsedIsABranch) {
  const Body made =
      plain_of({eval(logical(BinaryOp::logical_or, name("i"), assign(name("j"), lit("2"))))});
  EXPECT_EQ(
      made,
      typed({branch(unary(UnaryOp::logical_not, name("i")), {eval(assign(name("j"), lit("2")))})}));
}

TEST(Plain, ChoicesWithEffectsSetALocal) {
  const Body made = plain_of({eval(assign(at("x", 0), ternary(name("i"), post("j"), lit("0.5"))))});
  EXPECT_EQ(made, typed({declare("op2_value1", number()),
                         branch(name("i"),
                                {declare("op2_value2", whole(), name("j")), plus_plus(name("j")),
                                 eval(assign(name("op2_value1"), name("op2_value2")))},
                                {eval(assign(name("op2_value1"), lit("0.5")))}),
                         eval(assign(at("x", 0), name("op2_value1")))}));
}

TEST(Plain, ACommaIsAStatementAndItsRightSide) {
  const Body made = plain_of(
      {give(), branch(binary(BinaryOp::comma, assign(name("i"), lit("4")), name("i")), {give()})});
  EXPECT_EQ(made, typed({give(), eval(assign(name("i"), lit("4"))), branch(name("i"), {give()})}));
}

TEST(Plain, ALoopWhoseTestHasEffectsTestsInItsBody) {
  const Body made = plain_of({{.node = While{.condition = unary(UnaryOp::post_decrement, name("i")),
                                             .body = {{.node = Continue{}}}}}});
  const Stmt count = eval(unary(UnaryOp::post_decrement, name("i")));
  EXPECT_EQ(made,
            typed({{.node = For{.init = {},
                                .condition = {},
                                .step = {},
                                .body = {declare("op2_value1", whole(), name("i")),
                                         count,
                                         branch(unary(UnaryOp::logical_not, name("op2_value1")),
                                                {{.node = Break{}}}),
                                         {.node = Continue{}}}}}}));
}

TEST(Plain, ContinueTakesTheStepAndTheTestWithIt) {
  // do { if (j) continue; } while (++i, i < 3);
  const Body made = plain_of(
      {{.node = While{.condition = binary(BinaryOp::comma, unary(UnaryOp::pre_increment, name("i")),
                                          less(name("i"), lit("3"))),
                      .body = {branch(name("j"), {{.node = Continue{}}})},
                      .is_do = true}}});
  const Stmt count = eval(unary(UnaryOp::pre_increment, name("i")));
  const Stmt test = eval(assign(name("op2_value1"), less(name("i"), lit("3"))));
  EXPECT_EQ(made,
            typed({declare("op2_value1", whole()),
                   {.node = While{.condition = name("op2_value1"),
                                  .body = {branch(name("j"), {count, test, {.node = Continue{}}}),
                                           count, test},
                                  .is_do = true}}}));
}

TEST(Plain, HeadsOfLoopsKeepSeveralSteps) {
  const Body body{{.node = For{.init = {eval(binary(BinaryOp::comma, assign(name("i"), lit("0")),
                                                    assign(name("j"), lit("1"))))},
                               .condition = less(name("i"), lit("3")),
                               .step = binary(BinaryOp::comma, post("i"), post("j")),
                               .body = {}}}};
  EXPECT_EQ(plain_of(body), typed(body));
}

TEST(Plain, StepsWithEffectsWithinStandAtTheEndOfTheBody) {
  const Body made = plain_of({{.node = For{.init = {},
                                           .condition = less(name("i"), lit("3")),
                                           .step = assign(name("i"), post("j")),
                                           .body = {branch(name("i"), {{.node = Continue{}}})}}}});
  const auto step = [](const std::string& local) {
    return Body{declare(local, whole(), name("j")), plus_plus(name("j")),
                eval(assign(name("i"), name(local)))};
  };
  Body inner = step("op2_value1");
  inner.push_back({.node = Continue{}});
  Body body{branch(name("i"), inner)};
  for (const Stmt& stmt : step("op2_value2")) body.push_back(stmt);
  EXPECT_EQ(
      made,
      typed({{.node = For{
                  .init = {}, .condition = less(name("i"), lit("3")), .step = {}, .body = body}}}));
}

TEST(Plain, WhatACaseNeedsStandsInABlock) {
  const Body made = plain_of(
      {{.node = Switch{.value = name("i"),
                       .cases = {{.label = lit("1"),
                                  .body = {eval(assign(at(name("x"), post("j")), lit("1.0"))),
                                           {.node = Break{}}}}}}}});
  const Stmt block{.node = Block{{declare("op2_value1", whole(), name("j")), plus_plus(name("j")),
                                  eval(assign(at(name("x"), name("op2_value1")), lit("1.0")))}}};
  EXPECT_EQ(made, typed({{.node = Switch{.value = name("i"),
                                         .cases = {{.label = lit("1"),
                                                    .body = {block, {.node = Break{}}}}}}}}));
}

// A kernel of `double f(double *p)`, which stores, and `double g(const double *p)`, which does not.
KernelBody with_helpers(Body body) {
  Type constant = pointer();
  constant.is_const = true;
  return kernel_with({{.name = "f",
                       .result = number(),
                       .parameters = {{"p", pointer()}},
                       .body = {plus_plus(at("p", 0)), give(lit("1.0"))}},
                      {.name = "g",
                       .result = number(),
                       .parameters = {{"p", constant}},
                       .body = {give(at("p", 0))}},
                      function("k", {{"x", pointer()}, {"y", pointer()}}, std::move(body))});
}

TEST(Plain, AnOpenOrderIsToldOf) {
  const Expr f = call("f", {name("x")});
  const Expr g = call("g", {name("x")});
  const auto is_open = [](Expr value) {
    return has_open_order(with_helpers({eval(assign(at("y", 0), std::move(value)))}));
  };
  EXPECT_TRUE(is_open(add(f, at("x", 0))));
  EXPECT_TRUE(is_open(add(g, f)));
  EXPECT_TRUE(is_open(add(f, f)));
  EXPECT_FALSE(is_open(add(g, g)));
  EXPECT_FALSE(is_open(f));
  EXPECT_FALSE(is_open(assign(at("x", 0), assign(at("x", 1), lit("1.0")))));
  EXPECT_FALSE(is_open(binary(BinaryOp::comma, f, at("x", 0))));
  EXPECT_TRUE(has_open_order(with_helpers({eval(update(BinaryOp::add, at("y", 0), f))})));
}

TEST(Plain, RowsOfArraysAreAddresses) {
  const auto entry = [](int row, int column) {
    return at(at(name("t"), lit(std::to_string(row))), lit(std::to_string(column)));
  };
  const Stmt table = declare("t", array(array(number(), 3), 2));
  const auto is_open = [&](Expr value) {
    return has_open_order(with_helpers({table, eval(std::move(value))}));
  };
  EXPECT_FALSE(is_open(assign(entry(1, 2), assign(entry(0, 1), lit("1.0")))));
  EXPECT_TRUE(is_open(assign(entry(1, 2), add(entry(0, 0), assign(entry(0, 1), lit("1.0"))))));
}

TEST(Plain, WhatAHelperOnlyReadsIsNotHeld) {
  const KernelBody made =
      plain(with_helpers({eval(assign(at("y", 0), add(at("x", 0), call("g", {name("x")}))))}));
  EXPECT_EQ(made, with_helpers({declare("op2_value1", number(), call("g", {name("x")})),
                                eval(assign(at("y", 0), add(at("x", 0), name("op2_value1"))))}));
}

TEST(Plain, CallsWithAnUnknownResultStay) {
  const Expr from_a_header = call("mystery", {at("x", 0)});
  const Body body{eval(assign(at("y", 0), mul(lit("2.0"), from_a_header)))};
  EXPECT_EQ(plain_of(body), typed(body));
  EXPECT_TRUE(is_plain(kernel_with(body)));
}

TEST(Plain, WhatSizeofAsksForIsNotEvaluated) {
  const Body body{eval(assign(name("j"), {.node = SizeOf{}, .operands = {post("i")}, .type = {}}))};
  EXPECT_EQ(plain_of(body), typed(body));
}

TEST(Plain, LocalsOfConstsHaveTypesOnceThoseOfTheConstsAreKnown) {
  const KernelBody body = kernel_with(
      {declare("i", whole(), lit("0")),
       eval(assign(at("x", 0), ternary(name("i"), assign(name("i"), name("c")), name("c"))))});
  EXPECT_FALSE(is_typed(plain(body)));
  const KernelBody made = plain(body, {{.name = "c", .type = number(), .value = {}}});
  EXPECT_TRUE(is_typed(made));
  EXPECT_TRUE(made.tables.empty());
}

TEST(Plain, ChoicesOfAConstOrACallStayUntilTheConstHasAType) {
  const Body body{eval(
      assign(at("y", 0), mul(lit("2.0"), ternary(at("x", 0), name("c"), call("g", {name("x")})))))};
  const KernelBody made = plain(with_helpers(body));
  EXPECT_EQ(made, with_helpers(body));
  EXPECT_TRUE(is_plain(made));
  EXPECT_NE(plain(made, {{.name = "c", .type = number(), .value = {}}}), made);
}

TEST(Plain, NoLocalHasTheNameOfAConst) {
  const KernelBody made = plain(kernel_with(
      {{.node = Block{{declare("c", whole(), lit("0"))}}}, eval(assign(at("x", 0), name("c")))}));
  const auto& block = std::get<Block>(made.entry().body[0].node);
  EXPECT_EQ(std::get<Declare>(block.body[0].node).variables[0].name, "c#2");
}

TEST(Plain, TellsOfEachPass) {
  std::vector<std::string> passes;
  (void)plain(kernel_with(Body{}), {},
              [&passes](std::string_view pass, const KernelBody&) { passes.emplace_back(pass); });
  EXPECT_EQ(passes, (std::vector<std::string>{"names", "effects"}));
}

}  // namespace
}  // namespace op2::kernel
