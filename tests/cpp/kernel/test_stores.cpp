// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/stores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "ast.hpp"

namespace op2::kernel {
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
  return left_behind(kernel_with(std::move(body)))[0].n_stored();
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
  return left_behind(kernel_with(std::move(body)))[0].n_zero();
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

// What the scalars of x surely hold in the end, where x points to this type.
using Held = std::map<std::int64_t, Constant>;
Held held(Base base, Body body, std::vector<FunctionDef> helpers = {},
          std::vector<Variable> tables = {}) {
  helpers.push_back(
      function("k", {{"x", pointer_to(scalar(base))}, {"y", pointer()}}, std::move(body)));
  return left_behind(kernel_with(std::move(helpers), std::move(tables)))[0].constant;
}
Held held(Body body) {
  return held(Base::float64, std::move(body));
}
Constant real(double value) {
  return Real{value};
}
Constant integer(std::int64_t value) {
  return value;
}
Stmt given(int i, Expr value) {
  return eval(assign(at("x", i), std::move(value)));
}
Expr minus(Expr value) {
  return unary(UnaryOp::minus, std::move(value));
}

TEST(Constants, AreLiterals) {
  EXPECT_EQ(held({stored(0, "1"), stored(1, "2.5"), stored(2, "1e3"), stored(3, "0x1.8p1"),
                  stored(4, "0.1"), stored(5, ".5L"), stored(6, "1.f"), stored(8, "0")}),
            (Held{{0, real(1)},
                  {1, real(2.5)},
                  {2, real(1000)},
                  {3, real(3)},
                  {4, real(0.1)},
                  {5, real(0.5)},
                  {6, real(1)},
                  {8, real(0)}}));
  EXPECT_EQ(held({stored(0, "0.1f")}), (Held{{0, real(0.1F)}}));
  EXPECT_EQ(held({stored(0, "0.1L")}), Held{});  // may be rounded twice
  EXPECT_EQ(held({stored(0, "1e999"), stored(1, "1.0i"), stored(2, "1.0e")}), Held{});
  EXPECT_EQ(held({stored(0, "9007199254740993")}), Held{});
  EXPECT_EQ(held({loop("i", 2, {eval(assign(at(name("x"), name("i")), name("i")))})}),
            (Held{{0, real(0)}, {1, real(1)}}));
}

TEST(Constants, HaveASign) {
  EXPECT_EQ(held({given(0, minus(lit("0.0"))), given(1, minus(lit("0"))),
                  given(2, minus(lit("1.5"))), given(3, minus(minus(lit("0.0"))))}),
            (Held{{0, real(-0.0)}, {1, real(0)}, {2, real(-1.5)}, {3, real(0)}}));
  EXPECT_NE(real(-0.0), real(0.0));
  EXPECT_EQ(zero({given(0, minus(lit("0.0")))}), 0);
  EXPECT_EQ(zero({given(0, minus(lit("0")))}), 1);
  const Expr data = less(at("y", 0), lit("0."));
  EXPECT_EQ(held({branch(data, {stored(0, "0.0")}, {given(0, minus(lit("0.0")))})}), Held{});
}

TEST(Constants, AreConvertedWhereThatIsExact) {
  EXPECT_EQ(held(Base::float32, {stored(0, "0.5"), stored(1, "0.1"), stored(2, "0.1f"),
                                 stored(3, "16777217"), stored(4, "1e39")}),
            (Held{{0, real(0.5)}, {2, real(0.1F)}}));
  EXPECT_EQ(held(Base::int32, {stored(0, "2"), stored(1, "2.0"), stored(2, "2.5"),
                               stored(3, "3000000000"), given(4, minus(lit("7")))}),
            (Held{{0, integer(2)}, {1, integer(2)}, {4, integer(-7)}}));
  EXPECT_EQ(held(Base::uint8, {stored(0, "256"), given(1, minus(lit("1"))), stored(2, "1")}),
            (Held{{2, integer(1)}}));
  EXPECT_EQ(held(Base::boolean, {stored(0, "2"), stored(1, "0.5"), stored(2, "0")}),
            (Held{{0, integer(1)}, {1, integer(1)}, {2, integer(0)}}));
  EXPECT_EQ(held({given(0, cast(whole(), lit("2.0"))), given(1, cast(whole(), lit("2.5"))),
                  given(2, cast(scalar(Base::float32), lit("0.25"))),
                  given(3, cast(scalar(Base::float32), lit("0.1")))}),
            (Held{{0, real(2)}, {2, real(0.25)}}));
  // an imaginary part gets a sign of its own
  const Type complex = scalar(Base::complex128);
  EXPECT_EQ(held(Base::complex128, {stored(0, "2"), given(1, minus(lit("2.0"))),
                                    given(2, minus(cast(complex, lit("2.0"))))}),
            (Held{{0, real(2)}, {1, real(-2)}}));
}

TEST(Constants, AreFollowedThroughVariablesAndHelpers) {
  EXPECT_EQ(held({declare("a", number(), lit("3")), given(0, name("a"))}), (Held{{0, real(3)}}));
  EXPECT_EQ(held({declare("a", whole(), lit("3")), given(0, add(name("a"), lit("4"))),
                  given(1, mul(name("a"), lit("0.5")))}),
            (Held{{0, real(7)}}));
  EXPECT_EQ(held({declare("a", number(), lit("3")),
                  branch(less(at("y", 0), lit("0.")), {eval(assign(name("a"), lit("4")))}),
                  given(0, name("a"))}),
            Held{});
  EXPECT_EQ(held({declare("a", number(), lit("3")),
                  eval(call("f", {unary(UnaryOp::address, name("a"))})), given(0, name("a"))}),
            Held{});
  const FunctionDef fill = function("fill", {{"to", pointer()}, {"a", scalar(Base::float32)}},
                                    {eval(assign(at("to", 0), name("a")))});
  EXPECT_EQ(held(Base::float64,
                 {eval(call("fill", {name("x"), lit("0.5")})),
                  eval(call("fill", {add(name("x"), lit("1")), lit("0.1")}))},
                 {fill}),
            (Held{{0, real(0.5)}}));
  const Variable table{.name = "two", .type = whole(), .value = lit("2")};
  EXPECT_EQ(held(Base::float64, {given(0, name("two"))}, {}, {table}), (Held{{0, real(2)}}));
}

TEST(Constants, AreWhatWasStoredLastOnAllPaths) {
  const Expr data = less(at("y", 0), lit("0."));
  EXPECT_EQ(held({stored(0, "1"), stored(0, "2")}), (Held{{0, real(2)}}));
  EXPECT_EQ(held({stored(0, "1"), given(0, at("y", 0))}), Held{});
  EXPECT_EQ(held({stored(0, "1"), eval(update(BinaryOp::add, at("x", 0), lit("1")))}), Held{});
  EXPECT_EQ(held({branch(data, {stored(0, "1")}, {stored(0, "1.0")})}), (Held{{0, real(1)}}));
  EXPECT_EQ(held({branch(data, {stored(0, "1")}, {stored(0, "2")})}), Held{});
  EXPECT_EQ(held({given(0, ternary(data, lit("1"), lit("1.0"))),
                  given(1, ternary(data, lit("1"), lit("2")))}),
            (Held{{0, real(1)}}));
  EXPECT_EQ(held({stored(0, "1"), {.node = While{.condition = data, .body = {stored(1, "1")}}}}),
            Held{});
  EXPECT_EQ(held({loop("i", 100000000, {stored(0, "1")})}), Held{});
}

TEST(Constants, AreThoseOfCWhereAnExpressionConverts) {
  // the value of an assignment, and of a choice, has the type of the whole
  EXPECT_EQ(
      held({declare("n", scalar(Base::int8), lit("0")), given(0, assign(name("n"), lit("300"))),
            given(1, assign(name("n"), lit("2.5")))}),
      Held{});
  EXPECT_EQ(held({given(0, ternary(lit("1"), minus(lit("1")), lit("1u")))}), Held{});
  EXPECT_EQ(held({declare("c", scalar(Base::int8), lit("127")),
                  given(0, unary(UnaryOp::pre_increment, name("c")))}),
            Held{});
  EXPECT_EQ(held({declare("i", whole(), minus(lit("1"))),
                  eval(update(BinaryOp::divide, name("i"), lit("2u"))), given(0, name("i"))}),
            Held{});
  // bool holds 0 or 1
  EXPECT_EQ(held({declare("b", scalar(Base::boolean), lit("2")), given(0, name("b"))}),
            (Held{{0, real(1)}}));
}

// What x is a copy of in the end.
CopiedPrefix copied(Body body) {
  return left_behind(kernel_with(std::move(body)))[0].copy();
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

TEST(Copies, AreKnownOfEachScalar) {
  using Copied = std::map<std::int64_t, RunSource>;
  const auto copies = [](Body body) { return left_behind(kernel_with(std::move(body)))[0].copied; };
  EXPECT_EQ(copies({copy(0, 3), copy(2, 2)}), (Copied{{0, {1, 3}}, {2, {1, 2}}}));
  EXPECT_EQ(copies({given(1, at("x", 0))}), (Copied{{1, {0, 0}}}));
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
      sure({eval(ternary(data, assign(at("x", 0), lit("1.")), assign(at("x", 0), lit("2."))))}), 1);
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
  EXPECT_EQ(sure({declare("p", pointer(), name("x")), set(at("p", 0)),
                  eval(update(BinaryOp::add, name("p"), lit("1"))), set(at("p", 0))}),
            2);
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
    return left_behind(kernel_with({helper, function("k", {{"x", pointer()}}, std::move(body))}))[0]
        .n_stored();
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
  const FunctionDef calls =
      function("k", {{"x", pointer()}}, {eval(call("f", {name("x"), lit("5")}))});
  EXPECT_EQ(left_behind(kernel_with({helper, calls}))[0].n_stored(), 0);
}

TEST(Stores, GivesUpOnWhatTakesTooLong) {
  EXPECT_EQ(sure({set(0), loop("i", 100000000, {set(1)})}), 0);
}

// Scalars of x whose old values are not seen; 99: nothing reads any.
std::int64_t unseen(std::vector<FunctionDef> helpers, Body body) {
  helpers.push_back(function("k", {{"x", pointer()}, {"y", pointer()}}, std::move(body)));
  return std::min<std::int64_t>(seen_before(kernel_with(std::move(helpers)))[0].n_unseen(), 99);
}
std::int64_t unseen(Body body) {
  return unseen({}, std::move(body));
}
Stmt show(Expr value) {
  return eval(assign(at("y", 0), std::move(value)));
}
Stmt show(int i) {
  return show(at("x", i));
}

TEST(OldValues, AreSeenByWhoReadsBeforeItWrites) {
  EXPECT_EQ(unseen({set(0)}), 99);
  EXPECT_EQ(unseen({set(0), show(0)}), 99);
  EXPECT_EQ(unseen({show(0), set(0)}), 0);
  EXPECT_EQ(unseen({set(0), show(2), set(1)}), 2);
  EXPECT_EQ(unseen({set(0), eval(update(BinaryOp::add, at("x", 0), lit("1.0")))}), 99);
  EXPECT_EQ(unseen({eval(update(BinaryOp::add, at("x", 1), lit("1.0")))}), 1);
  EXPECT_EQ(unseen({eval(unary(UnaryOp::pre_increment, at("x", 1)))}), 1);
  EXPECT_EQ(unseen({branch(less(at("x", 3), lit("0.")), {})}), 3);
}

TEST(OldValues, AreSeenIfAnyPathShowsThem) {
  const Expr data = less(at("y", 1), lit("0."));
  EXPECT_EQ(unseen({branch(data, {set(0)}), show(0)}), 0);
  EXPECT_EQ(unseen({branch(data, {set(0)}, {set(0)}), show(0)}), 99);
  EXPECT_EQ(unseen({branch(data, {set(0), show(0)})}), 99);
  EXPECT_EQ(unseen({branch(data, {show(1)}), set(1)}), 1);
  EXPECT_EQ(unseen({show(ternary(data, at("x", 2), lit("0.")))}), 2);
  EXPECT_EQ(unseen({branch(less(lit("2"), lit("1")), {show(0)})}), 99);
}

TEST(OldValues, AreKnownOfEachScalar) {
  const auto seen = [](Body body) { return seen_before(kernel_with(std::move(body)))[0]; };
  const SeenBefore two = seen({show(3), set(0), show(0), show(1)});
  EXPECT_FALSE(two.is_all);
  EXPECT_EQ(two.scalars, (std::set<std::int64_t>{1, 3}));
  EXPECT_TRUE(seen({show(at(name("x"), cast(whole(), at("y", 0))))}).is_all);
}

TEST(OldValues, OfLoops) {
  EXPECT_EQ(unseen({loop("i", 3, {set_at("i")}), show(2)}), 99);
  EXPECT_EQ(unseen({loop("i", 3, {set_at("i")}), show(3)}), 3);
  const auto repeated = [](Body body) -> Stmt {
    return {.node = While{.condition = less(at("y", 1), lit("0.")), .body = std::move(body)}};
  };
  EXPECT_EQ(unseen({repeated({set(0)}), show(0)}), 0);
  EXPECT_EQ(unseen({repeated({show(2), set(2)})}), 2);
  EXPECT_EQ(unseen({repeated({set(2), show(2)})}), 99);
  EXPECT_EQ(unseen({set(0), repeated({show(0)})}), 99);
  EXPECT_EQ(unseen({set(0), set(1), loop("i", 100000000, {set(1)})}), 0);  // too long to follow
}

TEST(OldValues, AtPlacesThatNobodyKnows) {
  const Expr somewhere = at(name("x"), cast(whole(), at("y", 0)));
  EXPECT_EQ(unseen({set(0), show(somewhere)}), 0);
  EXPECT_EQ(unseen({eval(assign(somewhere, lit("1."))), show(1)}), 1);
  EXPECT_EQ(unseen({declare("p", pointer(), add(name("x"), lit("2"))), show(at("p", 1))}), 3);
  EXPECT_EQ(unseen({declare("p", pointer(), add(name("x"), lit("-1"))), show(at("p", 0))}), 0);
  EXPECT_EQ(unseen({show(unary(UnaryOp::dereference,
                               cast(pointer(), cast(scalar(Base::int64), name("y")))))}),
            0);
}

TEST(OldValues, InLocalArraysAreNobodysOwn) {
  EXPECT_EQ(unseen({declare("own", array(number(), 4)), eval(assign(at("own", 1), lit("1."))),
                    show(at("own", 1)), show(at(name("own"), cast(whole(), at("y", 0))))}),
            99);
}

TEST(OldValues, InHelpersAndFunctionsOfTheLibrary) {
  const FunctionDef of_two = function("f", {{"from", pointer()}, {"to", pointer()}},
                                      {eval(assign(at("to", 0), at("from", 1)))});
  const Expr use = call("f", {add(name("x"), lit("1")), name("y")});
  EXPECT_EQ(unseen({of_two}, {eval(use)}), 2);
  EXPECT_EQ(unseen({of_two}, {set(2), eval(use)}), 99);
  EXPECT_EQ(unseen({show(call("sqrt", {at("x", 1)}))}), 1);
  EXPECT_EQ(unseen({eval(call("unknown", {name("x")})), set(0)}), 0);
  EXPECT_EQ(unseen({set(0), show(call("unknown", {at("x", 0)}))}), 99);
}

TEST(OldValues, OfOperandsThatMayBeEvaluatedInAnyOrder) {
  FunctionDef writes =
      function("f", {{"to", pointer()}}, {eval(assign(at("to", 0), lit("1."))), give(lit("2."))});
  writes.result = number();
  const Expr use = call("f", {name("x")});
  EXPECT_EQ(unseen({writes}, {show(use), show(0)}), 99);
  EXPECT_EQ(unseen({writes}, {show(add(use, at("x", 0)))}), 0);
  EXPECT_EQ(unseen({writes}, {eval(update(BinaryOp::add, at("x", 0), use))}), 0);
  EXPECT_EQ(unseen({writes}, {show(call("fmin", {use, at("x", 0)}))}), 0);
  EXPECT_EQ(unseen({writes}, {show(binary(BinaryOp::comma, use, at("x", 0)))}), 99);
}

TEST(Overwrites, IsWrittenInFullAndWithRwNotSeen) {
  Kernel sets;
  sets.body = kernel_with(Body{set(0), set(1), show(0)});
  EXPECT_TRUE(overwrites(sets, 0, 2, Access::write));
  EXPECT_TRUE(overwrites(sets, 0, 2, Access::rw));
  EXPECT_FALSE(overwrites(sets, 0, 3, Access::rw));
  EXPECT_FALSE(overwrites(sets, 0, 2, Access::inc));
  EXPECT_FALSE(overwrites(sets, 0, 2, Access::read));
  Kernel looks;
  looks.body = kernel_with(Body{show(1), set(0), set(1)});
  EXPECT_TRUE(overwrites(looks, 0, 2, Access::write));
  EXPECT_FALSE(overwrites(looks, 0, 2, Access::rw));
}

// ------------------------------------------------- what is promised, against what random kernels
// do

constexpr int n_scalars = 4;
constexpr int n_conditions = 3;

/// Kernels of assignments to x, branches on y, and loops that may end early.
class RandomBody {
 public:
  explicit RandomBody(unsigned seed) : random_(seed) {}

  Body body(int depth, const std::string& index = "") {
    Body made;
    for (int n = pick(4) + 1; n > 0; --n) made.push_back(statement(depth, index));
    return made;
  }

 private:
  static constexpr std::array numbers{"0", "0.0", "1", "1.0", "2.5", "0.1", "0.1f", "3u", "200"};
  static constexpr std::array bases{Base::int32, Base::float32, Base::boolean, Base::uint8};

  int pick(std::size_t n) { return static_cast<int>(random_() % n); }

  /// On data, or now and then on what x holds.
  Expr condition() {
    if (pick(8) == 0) return less(at("x", pick(n_scalars)), lit("0."));
    return less(at("y", n_scalars + pick(n_conditions)), lit("0."));
  }

  Stmt assignment(const std::string& index) {
    const bool is_counted = !index.empty() && pick(2) == 0;
    const Expr i = is_counted ? name(index) : lit(std::to_string(pick(n_scalars)));
    const Expr place = at(name("x"), i);
    switch (pick(16)) {
      case 0:
        return eval(assign(place, at("x", pick(n_scalars))));
      case 7:
      case 8:
      case 13:
      case 14:
      case 15:
        return eval(assign(place, constant(2)));
      case 9:
      case 10:
      case 1:
      case 2:
        return eval(assign(place, lit("0.0")));
      case 3:
        return eval(update(BinaryOp::add, place, lit("0.0")));
      case 4:
      case 11:
        return eval(assign(place, at("y", pick(n_scalars))));
      default:
        return eval(assign(place, at(name("y"), i)));
    }
  }

  /// A number that is made of literals: C's conversions, signs, and integers that are computed.
  Expr constant(int depth) {
    const Expr number = lit(numbers.at(static_cast<std::size_t>(pick(numbers.size()))));
    if (depth == 0) return number;
    switch (pick(8)) {
      case 0:
        return unary(UnaryOp::minus, constant(depth - 1));
      case 1:
        return cast(scalar(bases.at(static_cast<std::size_t>(pick(bases.size())))),
                    constant(depth - 1));
      case 2:
        return ternary(lit(pick(2) == 0 ? "0" : "1"), constant(depth - 1), constant(depth - 1));
      case 3:
        return binary(pick(2) == 0 ? BinaryOp::add : BinaryOp::multiply, constant(depth - 1),
                      constant(depth - 1));
      default:
        return number;
    }
  }

  Stmt statement(int depth, const std::string& index) {
    const int kind = pick(10);
    if (depth == 0 || kind < 5) return assignment(index);
    if (kind == 5 && pick(3) == 0) return branch(condition(), {give()});
    if (kind == 6 && !index.empty()) return branch(condition(), {{.node = Break{}}});
    if (kind == 7 && !index.empty()) return branch(condition(), {{.node = Continue{}}});
    if (kind == 8) {
      const std::string inner = index + "i";
      return loop(inner, pick(n_scalars) + 1, body(depth - 1, inner));
    }
    return branch(condition(), body(depth - 1, index),
                  pick(2) == 0 ? Body{} : body(depth - 1, index));
  }

  std::mt19937 random_;
};

/// Runs them with each condition true or false.
class Interpreter {
 public:
  enum class Kind { nothing_new, a_value, a_number, a_copy };  // a copy: of the same place of y
  struct Held {
    Kind kind = Kind::nothing_new;
    double number = 0;
  };
  enum class Flow { next, leave_loop, next_step, leave };

  explicit Interpreter(unsigned conditions) : conditions_(conditions) {}

  Flow run(const Body& body) {
    for (const Stmt& stmt : body) {
      const Flow flow = run(stmt);
      if (flow != Flow::next) return flow;
    }
    return Flow::next;
  }

  [[nodiscard]] std::int64_t stored() const {
    return prefix([](Held held) { return held.kind != Kind::nothing_new; });
  }
  [[nodiscard]] std::int64_t unseen() const {
    return std::ranges::find(seen_, true) - seen_.begin();
  }
  [[nodiscard]] std::int64_t zero() const {
    return prefix([](Held held) {
      return held.kind == Kind::a_number && held.number == 0 && !std::signbit(held.number);
    });
  }
  [[nodiscard]] std::int64_t copied() const {
    return prefix([](Held held) { return held.kind == Kind::a_copy; });
  }
  /// Scalars that hold a number, whatever the data.
  [[nodiscard]] std::map<std::int64_t, Constant> constants() const {
    std::map<std::int64_t, Constant> found;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (x_.at(i).kind != Kind::a_number) continue;
      found.emplace(static_cast<std::int64_t>(i), Real{x_.at(i).number});
    }
    return found;
  }

 private:
  Flow run(const Stmt& stmt) {
    if (std::holds_alternative<Break>(stmt.node)) return Flow::leave_loop;
    if (std::holds_alternative<Continue>(stmt.node)) return Flow::next_step;
    if (std::holds_alternative<Return>(stmt.node)) return Flow::leave;
    if (const auto* node = std::get_if<If>(&stmt.node)) {
      const Expr& value = node->condition.operands[0];
      const int which =
          is_of_x(value) ? index_of(value) % n_conditions : index_of(value) - n_scalars;
      read(value);
      return run((conditions_ >> which & 1U) != 0 ? node->then_body : node->else_body);
    }
    if (const auto* node = std::get_if<For>(&stmt.node)) return repeat(*node);
    store(std::get<Evaluate>(stmt.node).value);
    return Flow::next;
  }

  Flow repeat(const For& node) {
    const std::string& counter = std::get<Name>(node.condition->operands[0].node).name;
    const int n = number_of(node.condition->operands[1]);
    for (int& i = counters_[counter] = 0; i < n; ++i) {
      const Flow flow = run(node.body);
      if (flow == Flow::leave) return flow;
      if (flow == Flow::leave_loop) break;
    }
    return Flow::next;
  }

  void store(const Expr& assigned) {
    Held& held = x_.at(static_cast<std::size_t>(index_of(assigned.operands[0])));
    const Expr& value = assigned.operands[1];
    read(value);
    if (std::get<Assign>(assigned.node).op) {
      read(assigned.operands[0]);
      held = {Kind::a_value};
    } else if (!std::holds_alternative<Index>(value.node)) {
      held = {Kind::a_number,
              std::visit([](auto n) { return static_cast<double>(n); }, computed(value))};
    } else {
      const bool is_same = !is_of_x(value) && index_of(value) == index_of(assigned.operands[0]);
      held = {is_same ? Kind::a_copy : Kind::a_value};
    }
  }

  /// What an expression of literals is, by the compiler of this test.
  using Number = std::variant<int, unsigned, float, double>;
  static Number computed(const Expr& expr) {
    const auto is = [&expr](UnaryOp op) {
      const auto* node = std::get_if<Unary>(&expr.node);
      return node != nullptr && node->op == op;
    };
    if (const auto* literal = std::get_if<Literal>(&expr.node)) return number_in(literal->spelling);
    const Number first = computed(expr.operands[0]);
    if (is(UnaryOp::minus)) return std::visit([](auto a) -> Number { return -a; }, first);
    if (const auto* cast = std::get_if<Cast>(&expr.node)) {
      return std::visit([&](auto a) { return converted(a, cast->target.base); }, first);
    }
    const Number second = computed(expr.operands[1]);
    if (const auto* node = std::get_if<Binary>(&expr.node)) {
      const bool adds = node->op == BinaryOp::add;
      return std::visit([adds](auto a, auto b) -> Number { return adds ? a + b : a * b; }, first,
                        second);
    }
    const Number third = computed(expr.operands[2]);
    const bool is_set = std::visit([](auto a) { return a != 0; }, first);
    return std::visit([is_set](auto a, auto b) -> Number { return is_set ? a : b; }, second, third);
  }

  static Number number_in(const std::string& spelling) {
    if (spelling.back() == 'f') return std::stof(spelling);
    if (spelling.back() == 'u') return static_cast<unsigned>(std::stoul(spelling));
    if (spelling.find('.') != std::string::npos) return std::stod(spelling);
    return std::stoi(spelling);
  }

  /// Numbers are small enough for all of these; uint8 is promoted.
  template <class Arithmetic>
  static Number converted(Arithmetic value, Base base) {
    switch (base) {
      case Base::float32:
        return static_cast<float>(value);
      case Base::boolean:
        return value != 0 ? 1 : 0;
      case Base::uint8:
        return static_cast<int>(static_cast<std::uint8_t>(static_cast<std::int64_t>(value)));
      default:
        return static_cast<int>(static_cast<std::int64_t>(value));
    }
  }

  [[nodiscard]] static bool is_of_x(const Expr& value) {
    return std::holds_alternative<Index>(value.node) &&
           std::get<Name>(value.operands[0].node).name == "x";
  }

  /// Old values are seen where nothing new was stored.
  void read(const Expr& value) {
    if (!is_of_x(value)) return;
    const auto i = static_cast<std::size_t>(index_of(value));
    if (x_.at(i).kind == Kind::nothing_new) seen_.at(i) = true;
  }

  /// Of an element of x or y.
  [[nodiscard]] int index_of(const Expr& element) const { return number_of(element.operands[1]); }

  [[nodiscard]] int number_of(const Expr& expr) const {
    if (const auto* counter = std::get_if<Name>(&expr.node)) return counters_.at(counter->name);
    return std::stoi(std::get<Literal>(expr.node).spelling);
  }

  template <class Holds>
  [[nodiscard]] std::int64_t prefix(const Holds& holds) const {
    return std::ranges::find_if_not(x_, holds) - x_.begin();
  }

  unsigned conditions_;
  std::array<Held, n_scalars> x_{};
  std::array<bool, n_scalars> seen_{};
  std::map<std::string, int> counters_;
};

TEST(Promises, HoldOnEveryPathOfRandomKernels) {
  std::array<std::int64_t, 5> promised{};
  std::array<std::int64_t, 5> true_of_all{};
  for (unsigned seed = 0; seed < 600; ++seed) {
    const Body body = RandomBody(seed).body(3);
    const KernelBody made = kernel_with(body);
    const LeftBehind left = left_behind(made)[0];
    const std::array<std::int64_t, 4> claims{
        left.n_stored(), left.n_zero(), left.copy().source == 1 ? left.copy().n : 0,
        std::min<std::int64_t>(seen_before(made)[0].n_unseen(), n_scalars)};
    std::array<std::int64_t, 4> least{};
    least.fill(n_scalars);
    const std::map<std::int64_t, Constant>& claimed = left.constant;
    std::optional<std::map<std::int64_t, Constant>> constants;
    for (unsigned conditions = 0; conditions < 1U << n_conditions; ++conditions) {
      Interpreter run(conditions);
      (void)run.run(body);
      const std::array<std::int64_t, 4> found{run.stored(), run.zero(), run.copied(), run.unseen()};
      for (std::size_t i = 0; i < 4; ++i) least[i] = std::min(least[i], found[i]);
      const std::map<std::int64_t, Constant> now = run.constants();
      if (!constants) constants = now;
      std::erase_if(*constants, [&now](const auto& item) {
        const auto other = now.find(item.first);
        return other == now.end() || other->second != item.second;
      });
    }
    for (const auto& [scalar, constant] : claimed) {
      ASSERT_TRUE(constants->contains(scalar) && constants->at(scalar) == constant)
          << "seed " << seed << ", scalar " << scalar;
    }
    promised[4] += static_cast<std::int64_t>(claimed.size());
    true_of_all[4] += static_cast<std::int64_t>(constants->size());
    for (std::size_t i = 0; i < 4; ++i) {
      ASSERT_LE(claims[i], least[i]) << "seed " << seed << ", promise " << i;
      promised[i] += claims[i];
      true_of_all[i] += least[i];
    }
  }
  // Not by promising nothing: only what depends on how branches go together is not seen. Compilers
  // draw the random numbers of an expression in other orders, so these kernels are others by each.
  for (std::size_t i = 0; i < 5; ++i) EXPECT_GT(3 * promised[i], 2 * true_of_all[i]) << i;
}

}  // namespace
}  // namespace op2::kernel
