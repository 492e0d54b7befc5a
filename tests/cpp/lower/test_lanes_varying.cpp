// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_varying.hpp"

#include <gtest/gtest.h>

#include "../kernel/ast.hpp"

namespace op2::lower {
namespace {

using namespace kernel::ast;
using Set = std::set<std::string>;

TEST(LanesVarying, FollowsValues) {
  const kernel::KernelBody body =
      kernel_with({declare("s", number(), lit("1.0")), declare("t", number(), at("x", 0)),
                   loop("i", 3, {eval(assign(at("y", 0), add(name("t"), name("s"))))})});
  LaneInstances instances(body);
  EXPECT_EQ(instances.of("k", {true, true}, false).varying, (Set{"x", "y", "t"}));
}

TEST(LanesVarying, BranchesOnDataMakeWhatTheyAssignVary) {
  const kernel::KernelBody body =
      kernel_with({declare("s", number(), lit("1.0")),
                   branch(less(at("x", 0), lit("0.0")), {declare("t", number(), lit("2.0")),
                                                         eval(assign(name("s"), name("t")))})});
  LaneInstances instances(body);
  const LaneInstance& made = instances.of("k", {true, true}, false);
  EXPECT_TRUE(made.varying.contains("s"));
  EXPECT_TRUE(made.merged.contains("s"));
  EXPECT_FALSE(made.varying.contains("t"));
}

TEST(LanesVarying, HelpersStoreThroughPointers) {
  const kernel::FunctionDef set =
      function("set", {{"p", pointer()}, {"s", number()}}, {eval(assign(at("p", 0), name("s")))});
  const kernel::KernelBody body = kernel_with(
      {set,
       function("k", {{"x", pointer()}, {"y", pointer()}},
                {declare("v", array(number(), 2)), eval(call("set", {name("v"), at("x", 0)}))})});
  LaneInstances instances(body);
  EXPECT_TRUE(instances.of("k", {true, true}, false).varying.contains("v"));
}

std::string refusal(const kernel::KernelBody& body) {
  try {
    LaneInstances instances(body);
    (void)instances.of("k", {true, true}, false);
  } catch (const Refusal& refused) {
    return refused.why;
  }
  return "";
}

TEST(LanesVarying, RefusesWhatMasksCannotDo) {
  const kernel::Expr test = less(at("x", 0), lit("0.0"));
  EXPECT_EQ(refusal(kernel_with({{kernel::While{test, {}}, 0}})),
            "how often a loop runs depends on data");
  EXPECT_EQ(refusal(kernel_with({loop("i", 2, {branch(test, {{kernel::Break{}, 0}})})})),
            "a branch on data leaves a loop or an iteration");
  EXPECT_EQ(refusal(kernel_with({declare("p", pointer(), ternary(test, name("x"), name("y")))})),
            "a pointer depends on data");
  EXPECT_EQ(refusal(kernel_with({eval(call("mystery", {at("x", 0)}))})),
            "it calls 'mystery', which is not known");
  EXPECT_EQ(refusal(kernel_with({declare("r", array(pointer(), 2))})),
            "'r' is an array of pointers, or points to some");
}

TEST(LanesVarying, RefusalsSayWhere) {
  EXPECT_EQ(Refusal{"why"}.text(), "why");
  try {
    at_line(3, [] { at_line(7, [] { throw Refusal{"why"}; }); });
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.text(), "why (line 7 of the kernel)");
  }
}

TEST(LanesVarying, PointersShareWhatTheyPointTo) {
  const kernel::Expr place = at(name("m"), lit("1"));
  EXPECT_EQ(roots_of(place), std::vector<std::string>{"m"});
}

}  // namespace
}  // namespace op2::lower
