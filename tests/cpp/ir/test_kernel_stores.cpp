// SPDX-License-Identifier: BSD-3-Clause
#include "ir/kernel_stores.hpp"

#include <gtest/gtest.h>

#include "ast.hpp"

namespace op2::ir {
namespace {

using namespace ast;

Stmt set(Expr place) {
  return eval(assign(std::move(place), lit("1.0")));
}
Stmt set(int i) {
  return set(at("x", i));
}
Stmt set_at(const std::string& i) {
  return set(at(name("x"), name(i)));
}

// Scalars of x that are surely written.
std::int64_t sure(Body body) {
  return surely_stored(kernel(std::move(body)))[0];
}

TEST(Stores, StraightLines) {
  EXPECT_EQ(sure({set(0), set(1)}), 2);
  EXPECT_EQ(sure({set(1)}), 0);
  EXPECT_EQ(sure({set(2), set(0), set(1)}), 3);
  EXPECT_EQ(sure({eval(assign(at("y", 0), at("x", 0)))}), 0);
  EXPECT_EQ(sure({set(unary(UnaryOp::dereference, name("x")))}), 1);
}

// Scalars of x that are surely 0 in the end.
std::int64_t zero(Body body) {
  return surely_zero(kernel(std::move(body)))[0];
}
Stmt stored(int i, const char* value) {
  return eval(assign(at("x", i), lit(value)));
}

TEST(Zeros, AreWhatWasStoredLast) {
  Expr added = assign(at("x", 0), lit("1"));
  std::get<Assign>(added.node).op = BinaryOp::add;
  EXPECT_EQ(zero({stored(0, "0"), stored(1, "0.0"), stored(2, "0.f"), stored(3, "0x0p0"),
                  stored(4, "1")}),
            4);
  EXPECT_EQ(zero({stored(0, "0"), stored(0, "0.5")}), 0);
  EXPECT_EQ(zero({stored(0, "0.5"), stored(0, "0e3")}), 1);
  EXPECT_EQ(zero({stored(0, "10")}), 0);
  EXPECT_EQ(zero({stored(0, "0x10")}), 0);
  EXPECT_EQ(zero({stored(0, "0"), eval(added)}), 0);
  EXPECT_EQ(zero({loop("i", 4, {eval(assign(at(name("x"), name("i")), lit("0.0")))})}), 4);
}

// What x is a copy of in the end.
CopiedPrefix copied(Body body) {
  return surely_copied(kernel(std::move(body)))[0];
}
Stmt copy(int to, int from) {
  return eval(assign(at("x", to), at("y", from)));
}

TEST(Copies, AreWhatWasLoadedFromTheSamePlace) {
  EXPECT_EQ(copied({copy(0, 0), copy(1, 1)}), (CopiedPrefix{1, 2}));
  EXPECT_EQ(
      copied({loop("i", 3, {eval(assign(at(name("x"), name("i")), at(name("y"), name("i"))))})}),
      (CopiedPrefix{1, 3}));
  EXPECT_EQ(copied({copy(0, 1), copy(1, 0)}), CopiedPrefix{});
  EXPECT_EQ(copied({copy(0, 0), copy(1, 2)}), (CopiedPrefix{1, 1}));
  EXPECT_EQ(copied({copy(0, 0), set(0)}), CopiedPrefix{});
  EXPECT_EQ(copied({set(0), copy(0, 0)}), (CopiedPrefix{1, 1}));
}

TEST(Copies, MustBeMadeOnAllPathsAndNotChanged) {
  const Expr data = less(at("y", 0), lit("0."));
  EXPECT_EQ(copied({branch(data, {copy(0, 0)})}), CopiedPrefix{});
  EXPECT_EQ(copied({copy(0, 0), branch(data, {copy(0, 1)})}), CopiedPrefix{});
  EXPECT_EQ(copied({branch(data, {copy(0, 0)}, {copy(0, 0)})}), (CopiedPrefix{1, 1}));
  Expr added = assign(at("x", 0), at("y", 0));
  std::get<Assign>(added.node).op = BinaryOp::add;
  EXPECT_EQ(copied({copy(0, 0), eval(added)}), CopiedPrefix{});
  EXPECT_EQ(copied({eval(assign(at("x", 0), binary(BinaryOp::multiply, lit("2"), at("y", 0))))}),
            CopiedPrefix{});
}

TEST(Zeros, AreLostWhereSomethingUnknownIsStored) {
  const Expr data = less(at("y", 0), lit("0."));
  EXPECT_EQ(zero({stored(0, "0"), branch(data, {stored(0, "1")})}), 0);
  EXPECT_EQ(zero({branch(data, {stored(0, "0")}, {stored(0, "0.0")})}), 1);
  EXPECT_EQ(zero({stored(0, "0"), {.node = While{.condition = data, .body = {stored(0, "1")}}}}),
            0);
  EXPECT_EQ(zero({stored(0, "0"), eval(call("f", {name("x")}))}), 0);
  EXPECT_EQ(zero({stored(0, "0"), eval(call("sqrt", {at("y", 0)}))}), 1);
  EXPECT_EQ(zero({stored(0, "0"), branch(data, {give()}), stored(1, "0")}), 1);
  const Expr index = cast(scalar(Base::int32), at("y", 0));
  EXPECT_EQ(zero({stored(0, "0"), eval(assign(at(name("x"), index), lit("1")))}), 0);
}

TEST(Stores, LoopsWithConstantBounds) {
  EXPECT_EQ(sure({loop("i", 4, {set_at("i")})}), 4);
  const Expr index = add(mul(lit("2"), name("i")), name("j"));
  EXPECT_EQ(sure({loop("i", 3, {loop("j", 2, {set(at(name("x"), index))})})}), 6);
  // triangular: rows up to the diagonal, all of them reached
  Stmt inner = loop("j", 0, {set(at(name("x"), add(mul(name("i"), lit("3")), name("j"))))});
  std::get<For>(inner.node).condition = binary(BinaryOp::less_equal, name("j"), name("i"));
  EXPECT_EQ(sure({loop("i", 3, {inner})}), 1);
}

TEST(Stores, BranchesOnData) {
  const Expr data = less(at("y", 0), lit("0."));
  EXPECT_EQ(sure({branch(data, {set(0)}, {set(0), set(1)})}), 1);
  EXPECT_EQ(sure({branch(data, {set(0)})}), 0);
  EXPECT_EQ(sure({branch(data, {give()}), set(0)}), 0);
  EXPECT_EQ(sure({branch(data, {set(0), give()}), set(0), set(1)}), 1);
  EXPECT_EQ(sure({branch(lit("1"), {set(0)})}), 1);
  EXPECT_EQ(
      sure({eval(ternary(data, assign(at("x", 0), lit("1.")), assign(at("x", 0), lit("2."))))}), 0);
  EXPECT_EQ(sure({eval(binary(BinaryOp::logical_and, data, assign(at("x", 0), lit("1."))))}), 0);
}

TEST(Stores, LoopsThatDependOnData) {
  const Expr data = less(at("y", 0), lit("0."));
  EXPECT_EQ(sure({{.node = While{.condition = data, .body = {set(0)}}}}), 0);
  EXPECT_EQ(sure({{.node = While{.condition = data, .body = {set(0)}, .is_do = true}}}), 1);
  EXPECT_EQ(sure({set(0), {.node = While{.condition = data, .body = {give()}}}, set(1)}), 1);
  // i is not known after the loop
  EXPECT_EQ(sure({declare("i", whole(), lit("0")),
                  {.node = While{.condition = data,
                                 .body = {eval(unary(UnaryOp::post_increment, name("i")))}}},
                  set_at("i")}),
            0);
}

TEST(Stores, BreaksAndContinues) {
  const Expr data = less(at("y", 0), lit("0."));
  EXPECT_EQ(sure({loop("i", 4, {set_at("i"), branch(data, {{.node = Break{}}})})}), 1);
  EXPECT_EQ(sure({loop("i", 4, {branch(data, {{.node = Continue{}}}), set_at("i")})}), 0);
  EXPECT_EQ(sure({loop("i", 4, {set_at("i"), branch(data, {{.node = Continue{}}})})}), 4);
  EXPECT_EQ(
      sure({loop("i", 4, {branch(less(lit("1"), name("i")), {{.node = Break{}}}), set_at("i")})}),
      2);
}

TEST(Stores, Switches) {
  const auto cases = [](bool has_default) {
    Switch node{.value = at("y", 0),
                .cases = {{.label = lit("1"), .body = {set(0), {.node = Break{}}}},
                          {.label = lit("2"), .body = {set(1)}}}};
    Case last{.label = std::nullopt, .body = {set(0)}};
    if (!has_default) last.label = lit("3");
    node.cases.push_back(last);
    return Body{{.node = node}};
  };
  EXPECT_EQ(sure(cases(true)), 1);
  EXPECT_EQ(sure(cases(false)), 0);
}

TEST(Stores, PointersThatMove) {
  EXPECT_EQ(
      sure({declare("p", pointer(), name("x")),
            loop("i", 3,
                 {set(unary(UnaryOp::dereference, unary(UnaryOp::post_increment, name("p"))))})}),
      3);
  const Type rows = pointer_to(array(number(), 2));
  EXPECT_EQ(sure({declare("r", rows, cast(rows, name("x"))),
                  loop("i", 2,
                       {set(at(at(name("r"), name("i")), lit("0"))),
                        set(at(at(name("r"), name("i")), lit("1")))})}),
            4);
  const Type narrow = pointer_to(scalar(Base::float32));
  EXPECT_EQ(sure({declare("r", narrow, cast(narrow, name("x"))), set(at("r", 0))}), 0);
  EXPECT_EQ(sure({declare("x", array(number(), 2)), set(0)}), 0);
}

TEST(Stores, Helpers) {
  const FunctionDef helper =
      function("f", {{"to", pointer()}, {"n", whole()}},
               {branch(less(name("n"), lit("2")), {give()}), set(at(name("to"), name("n")))});
  const auto with = [&helper](Body body) {
    return surely_stored(kernel({helper, function("k", {{"x", pointer()}}, std::move(body))}))[0];
  };
  const auto use = [](int offset, int n) {
    return eval(call("f", {add(name("x"), lit(std::to_string(offset))), lit(std::to_string(n))}));
  };
  EXPECT_EQ(with({set(0), set(1), use(0, 2), use(1, 2)}), 4);
  EXPECT_EQ(with({use(0, 0)}), 0);
}

TEST(Stores, IntegersThatCWouldConvertAreNotFollowed) {
  const Type narrow = scalar(Base::uint8);
  EXPECT_EQ(sure({declare("i", narrow, lit("256")), set_at("i")}), 0);
  const Type natural = scalar(Base::uint32);
  EXPECT_EQ(
      sure({declare("n", natural, lit("0")),
            branch(less(binary(BinaryOp::subtract, name("n"), lit("1")), lit("0")), {set(0)})}),
      0);
  // i may change behind its name
  EXPECT_EQ(sure({declare("i", whole(), lit("0")),
                  eval(call("g", {unary(UnaryOp::address, name("i"))})), set_at("i")}),
            0);
}

TEST(Stores, AnArgumentIsConvertedToItsParameter) {
  const Expr half = binary(BinaryOp::divide, name("a"), lit("2"));
  const FunctionDef helper = function("f", {{"to", pointer()}, {"a", number()}},
                                      {branch(less(half, lit("2")), {}, {set(at("to", 0))})});
  EXPECT_EQ(surely_stored(kernel({helper, function("k", {{"x", pointer()}},
                                                   {eval(call("f", {name("x"), lit("5")}))})})),
            std::vector<std::int64_t>{0});
}

TEST(Stores, GivesUpOnWhatTakesTooLong) {
  EXPECT_EQ(sure({set(0), loop("i", 100000000, {set(1)})}), 0);
}

}  // namespace
}  // namespace op2::ir
