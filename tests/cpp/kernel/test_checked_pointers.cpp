// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/checked_pointers.hpp"

#include <gtest/gtest.h>

#include "ast.hpp"
#include "kernel/integers.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

Expr same(const Expr& expr) {
  return expr;
}

struct World {
  explicit World(Body body) : kernel_body(kernel_with(std::move(body))) {}
  KernelBody kernel_body;
  CheckInput input{.accesses = {Access::rw, Access::read}, .run = {.extents = {4, 6}}};
  CheckedPointers pointers{kernel_body.entry(), kernel_body, input, true, same};
};

/// The value of the first statement.
const Expr& first(const World& world) {
  return std::get<Evaluate>(world.kernel_body.entry().body.front().node).value;
}

std::vector<std::int64_t> ends(const std::optional<Reach>& reach) {
  if (!reach) return {};
  return {*integer_value(reach->low, {}), *integer_value(reach->high, {}),
          *integer_value(reach->who, {})};
}

using Ends = std::vector<std::int64_t>;

TEST(CheckedPointers, ParametersReachAsFarAsTheirArguments) {
  const World world({eval(name("y"))});
  EXPECT_EQ(ends(world.pointers.reach(first(world))), (Ends{0, 6, 1}));
  EXPECT_TRUE(world.pointers.declarations().empty());
}

TEST(CheckedPointers, SumsAndAddressesMoveTheReach) {
  const World sum({eval(add(name("x"), lit("3")))});
  EXPECT_EQ(ends(sum.pointers.reach(first(sum))), (Ends{-3, 1, 0}));
  const World address({eval(unary(UnaryOp::address, at("x", 1)))});
  EXPECT_EQ(ends(address.pointers.reach(first(address))), (Ends{-1, 3, 0}));
}

TEST(CheckedPointers, PointersThatChangeHaveCompanions) {
  const World world(
      {eval(unary(UnaryOp::pre_increment, name("x"))), declare("p", pointer(), name("y"))});
  EXPECT_FALSE(integer_value(world.pointers.reach(first(world))->low, {}));
  EXPECT_TRUE(world.pointers.follow("x", first(world)));
  EXPECT_TRUE(world.pointers.follow("p", name("y")));
  EXPECT_FALSE(world.pointers.follow("y", name("x")));
  EXPECT_EQ(world.pointers.declarations().size(), 3 + 4);  // x comes with its bits
}

TEST(CheckedPointers, HelpersGetThemAsParameters) {
  const FunctionDef helper = function("f", {{"p", pointer()}, {"n", whole()}}, {});
  const auto extra = CheckedPointers::companions(helper, false);
  ASSERT_EQ(extra.size(), 3);
  EXPECT_EQ(extra[0].name, "op2_low_p");
  EXPECT_EQ(CheckedPointers::companions(helper, true).size(), 4);
}

TEST(CheckedPointers, PointersToPointersAreNotFollowed) {
  EXPECT_TRUE(CheckedPointers::is_followed(pointer()));
  EXPECT_TRUE(CheckedPointers::is_followed(pointer_to(array(number(), 3))));
  EXPECT_FALSE(CheckedPointers::is_followed(pointer_to(pointer())));
  EXPECT_FALSE(CheckedPointers::is_followed(number()));
}

}  // namespace
}  // namespace op2::kernel
