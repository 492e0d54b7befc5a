// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/run.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ast.hpp"
#include "kernel/unique_names.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

/// What a run told, in order: "x[3/4]", "x[?/4]", "load a set", "use t unset", "+ known".
class Log : public RunListener {
 public:
  void subscript(const RunSubscript& met) override {
    const std::string at = met.index ? std::to_string(*met.index) : "?";
    lines.push_back(met.array + "[" + at + "/" + std::to_string(met.extent) + "]" +
                    (met.is_guarded ? " guarded" : ""));
  }
  void touch(const Expr& /*site*/, const RunObject* object, bool is_set) override {
    touched.push_back((object == nullptr ? "?" : object->name) + (is_set ? " set" : " unset"));
  }
  void use(const Expr& name, bool is_set) override {
    if (!is_set) unset.push_back(std::get<Name>(name.node).name);
  }
  void compute(const Expr& /*expr*/, bool is_known) override { known.push_back(is_known); }

  std::vector<std::string> lines;
  std::vector<std::string> touched;
  std::vector<std::string> unset;
  std::vector<bool> known;
};

struct Ran {
  RunResult result;
  Log log;
};

void run(Ran& ran, const KernelBody& body, RunInput input) {
  const KernelBody named = with_unique_names(body);
  ran.result = run_kernel(named, input, &ran.log);
}

void run(Ran& ran, Body body) {
  run(ran, kernel_with(std::move(body)), {.extents = {2, 3}});
}

Stmt put(Expr place) {
  return eval(assign(std::move(place), lit("1.0")));
}

using Lines = std::vector<std::string>;

TEST(Run, TellsSubscripts) {
  Ran ran;
  run(ran, {put(at("x", 1)), put(at("x", 2)), put(unary(UnaryOp::dereference, name("y")))});
  EXPECT_EQ(ran.log.lines, (Lines{"x[1/2]", "x[2/2]", "y[0/3]"}));
  EXPECT_TRUE(ran.result.is_complete);
}

TEST(Run, FollowsLoopsAndPointers) {
  Ran ran;
  run(ran, {loop("i", 2, {put(at(name("x"), name("i")))}),
            declare("p", pointer(), add(name("y"), lit("2"))), put(at("p", 1))});
  EXPECT_EQ(ran.log.lines, (Lines{"x[0/2]", "x[1/2]", "y[3/3]"}));
}

TEST(Run, LocalArraysHaveTheirOwnBounds) {
  Ran ran;
  Type array = scalar(Base::float64);
  array.derivation = {{.kind = Derivation::Kind::array, .extent = 2},
                      {.kind = Derivation::Kind::array, .extent = 3}};
  run(ran, {declare("a", array), put(at(at("a", 1), lit("3"))), put(at(at("a", 2), lit("0")))});
  EXPECT_EQ(ran.log.lines, (Lines{"a[1/2]", "a[3/3]", "a[2/2]", "a[0/3]"}));
}

TEST(Run, LooksIntoLoopsThatDependOnData) {
  Ran ran;
  const Expr data = less(at("y", 0), lit("0."));
  run(ran, {{.node = While{.condition = data, .body = {put(at("x", 5))}}}});
  EXPECT_NE(std::ranges::find(ran.log.lines, "x[5/2]"), ran.log.lines.end());
  EXPECT_TRUE(ran.result.stored[0].empty());
}

TEST(Run, ConditionsOnTheSameForAllAreGuards) {
  Ran ran;
  const auto branches = [](Expr condition) {
    return kernel_with({branch(std::move(condition), {put(at("x", 5))})});
  };
  run(ran, branches(binary(BinaryOp::equal, name("dim"), lit("3"))), {.extents = {2, 3}});
  EXPECT_EQ(ran.log.lines, (Lines{"x[5/2] guarded"}));
  Ran other;
  run(other, branches(less(at("y", 0), lit("0."))), {.extents = {2, 3}});
  EXPECT_EQ(other.log.lines, (Lines{"y[0/3]", "x[5/2]"}));
  Ran global;
  run(global, branches(less(at("y", 0), lit("0."))), {.extents = {2, 3}, .uniform = {false, true}});
  EXPECT_EQ(global.log.lines, (Lines{"y[0/3]", "x[5/2] guarded"}));
}

TEST(Run, KnowsWhatHasAValue) {
  Ran ran;
  const Expr data = less(at("y", 0), lit("0."));
  run(ran,
      {declare("s", scalar(Base::float64)), declare("t", scalar(Base::float64)),
       branch(data, {eval(assign(name("t"), lit("1.")))}), eval(assign(name("s"), lit("2."))),
       eval(assign(at("x", 0), add(name("s"), name("t")))), eval(assign(at("x", 1), at("x", 0)))});
  EXPECT_EQ(ran.log.unset, (Lines{"t"}));
  EXPECT_EQ(ran.log.touched, (Lines{"y unset", "x unset", "x set", "x unset"}));
}

TEST(Run, ConstsHaveExtents) {
  Ran ran;
  run(ran, kernel_with({eval(assign(at("x", 0), at("c", 4)))}),
      {.extents = {2, 3}, .constants = {{"c", 3}}});
  EXPECT_EQ(ran.log.lines, (Lines{"c[4/3]", "x[0/2]"}));
}

TEST(Run, PointingPastTheEndIsNoSubscript) {
  Ran ran;
  run(ran, {declare("p", pointer(), unary(UnaryOp::address, at("x", 2))), put(at("p", -1))});
  EXPECT_EQ(ran.log.lines, (Lines{"x[1/2]"}));
}

}  // namespace
}  // namespace op2::kernel
