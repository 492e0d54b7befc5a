// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/bounds.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

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

TEST(Bounds, LoopsThatOnlyDataEnd) {
  const Stmt ends = branch(less(at("y", 0), name("i")), {Stmt{Break{}}});
  const Stmt stores = eval(assign(at(name("x"), name("i")), lit("0.")));
  const auto endless = [&](Body body, std::optional<Expr> condition) {
    For node;
    node.init = {declare("i", whole(), lit("0"))};
    node.condition = std::move(condition);
    node.step = update(BinaryOp::add, name("i"), lit("1"));
    node.body = std::move(body);
    return found({Stmt{std::move(node)}});
  };
  EXPECT_TRUE(endless({ends, stores}, std::nullopt).empty());
  EXPECT_TRUE(endless({ends, stores}, lit("1")).empty());
  EXPECT_EQ(endless({ends, stores}, less(name("i"), lit("3"))).size(), 1);
  const Stmt at_three = branch(less(lit("2"), name("i")), {Stmt{Break{}}});
  EXPECT_EQ(endless({at_three, stores}, std::nullopt).size(), 1);
}

TEST(Bounds, NothingToFind) {
  EXPECT_TRUE(found({loop("i", 2, {eval(assign(at(name("x"), name("i")), at("y", 2)))})}).empty());
  EXPECT_TRUE(found({branch(lit("0"), {eval(assign(at("x", 9), lit("0.")))})}).empty());
}

}  // namespace
}  // namespace op2::kernel
