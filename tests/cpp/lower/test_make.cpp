// SPDX-License-Identifier: BSD-3-Clause
#include "lower/make.hpp"

#include <gtest/gtest.h>

namespace op2::lower {
namespace {

using kir::integer;
using kir::name;

TEST(Make, ComponentsAreCountedByC) {
  const kir::Stmt made = for_components(3, {{kir::Barrier{}}});
  const auto& loop = std::get<kir::For>(made.node);
  EXPECT_EQ(loop.index, kir::Copy::index);
  EXPECT_EQ(loop.end, integer(3));
}

TEST(Make, OneUpdateOfComponentsIsACopy) {
  const kir::Expr target = kir::element("y", name("c"));
  EXPECT_EQ(for_components(3, target, kir::Update::add, name("v")),
            (kir::Stmt{kir::Copy{3, target, kir::Update::add, name("v")}}));
}

TEST(Make, PrivateArraysHaveAnAddress) {
  EXPECT_EQ(private_array(DType::float32, "p", 3),
            (kir::Stmt{kir::Decl{{DType::float32}, "p", 3, {}}}));
  EXPECT_EQ(private_array(DType::float64, "p", 0, /*starts_at_zero=*/true),
            (kir::Stmt{kir::Decl{{DType::float64}, "p", 1, {integer(0)}}}));
}

TEST(Make, StatementsSayForWhichArgumentTheyAre) {
  const kir::Block made =
      for_arg(2, {private_array(DType::float64, "p", 3), {kir::Gather{"p", {}}}, {kir::Barrier{}}});
  EXPECT_EQ(std::get<kir::Decl>(made[0].node).arg, 2);
  EXPECT_EQ(std::get<kir::Gather>(made[1].node).arg, 2);
  EXPECT_EQ(made[2], kir::Stmt{kir::Barrier{}});
}

TEST(Make, IndicesHaveTheWidthThatIsAskedFor) {
  EXPECT_EQ(index_dtype(4), DType::int32);
  EXPECT_EQ(index_dtype(8), DType::int64);
}

TEST(Make, WithReplacesOneVariable) {
  EXPECT_EQ(with(name("a") + kir::element("a", name("b")), "a", name("z")),
            name("z") + kir::element("a", name("b")));
}

TEST(Make, ACallIsFoundInLoopsBranchesAndTeams) {
  const kir::Block call{{kir::CallUser{{}}}};
  EXPECT_TRUE(calls_kernel(call));
  EXPECT_TRUE(calls_kernel({{kir::Region{{serial("i", 2, {{kir::If{name("a"), call}}})}}}}));
  EXPECT_FALSE(calls_kernel({serial("i", 2, {})}));
}

TEST(Make, AppendKeepsTheOrder) {
  kir::Block out{{kir::Barrier{}}};
  append(out, {index_decl("a", integer(1)), index_decl("b", integer(2))});
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(std::get<kir::Decl>(out[1].node).name, "a");
  EXPECT_EQ(std::get<kir::Decl>(out[2].node).type, index_type());
}

}  // namespace
}  // namespace op2::lower
