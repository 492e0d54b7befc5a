// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/bounds.hpp"

#include <gtest/gtest.h>

#include "ast.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

std::vector<OutOfBounds> found(Body body) {
  return out_of_bounds(kernel_with(std::move(body)), {.extents = {2, 3}});
}

TEST(Bounds, NamesLineArrayAndIndex) {
  const auto outside = found({eval(assign(at("x", 2), at("y", 2)), 7)});
  ASSERT_EQ(outside.size(), 1);
  EXPECT_EQ(outside[0].array, "x");
  EXPECT_EQ(outside[0].parameter, 0);
  EXPECT_EQ(outside[0].index, 2);
  EXPECT_EQ(outside[0].extent, 2);
}

TEST(Bounds, LoopsThatRunTooFar) {
  const auto outside = found({loop("i", 4, {eval(assign(at(name("x"), name("i")), lit("0.")))})});
  ASSERT_EQ(outside.size(), 2);
  EXPECT_EQ(outside[0].index, 2);
  EXPECT_EQ(outside[1].index, 3);
}

TEST(Bounds, EachOnce) {
  EXPECT_EQ(found({loop("i", 4, {eval(assign(at("x", -1), lit("0.")))})}).size(), 1);
}

TEST(Bounds, NothingToFind) {
  EXPECT_TRUE(found({loop("i", 2, {eval(assign(at(name("x"), name("i")), at("y", 2)))})}).empty());
  EXPECT_TRUE(found({branch(lit("0"), {eval(assign(at("x", 9), lit("0.")))})}).empty());
}

}  // namespace
}  // namespace op2::kernel
