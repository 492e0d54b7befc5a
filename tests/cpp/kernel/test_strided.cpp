// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/strided.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <variant>

#include "ast.hpp"
#include "kernel/make.hpp"
#include "kernel/types.hpp"

namespace op2::kernel {
namespace {

using namespace ast;

KernelBody of_array(Body body) {
  return infer_types(
      kernel_with({function("k", {{"A", pointer()}, {"B", pointer()}}, std::move(body))}, {}));
}

TEST(WithStride, SpreadsTheEntriesOfOneArray) {
  const KernelBody body = of_array({eval(make::assign(at("A", 3), at("B", 1)))});
  const KernelBody wanted = of_array({eval(make::assign(
      make::index(name("A"), make::binary(BinaryOp::multiply, make::number(3), make::number(32))),
      at("B", 1)))});
  EXPECT_EQ(with_stride(body, 0, 32, 128), wanted);
}

TEST(WithStride, ReadsIndicesThatAreEntriesThemselves) {
  const auto spread = [](Expr index) {
    return make::index(name("A"),
                       make::binary(BinaryOp::multiply, std::move(index), make::number(8)));
  };
  const KernelBody body =
      of_array({eval(make::assign(make::index(name("A"), at("A", 1)), at("B", 0)))});
  EXPECT_EQ(with_stride(body, 0, 8, 128),
            of_array({eval(make::assign(spread(spread(make::number(1))), at("B", 0)))}));
}

TEST(WithStride, IsNotPossibleWhereTheArrayIsMoreThanItsEntries) {
  const Expr added = make::binary(BinaryOp::add, name("A"), make::number(1));
  EXPECT_FALSE(with_stride(of_array({eval(make::assign(name("B"), name("A")))}), 0, 8, 128));
  EXPECT_FALSE(with_stride(of_array({eval(make::index(added, make::number(0)))}), 0, 8, 128));
  EXPECT_FALSE(with_stride(of_array({eval(make::call("f", {name("A")}))}), 0, 8, 128));
  const Expr address = make::of(Unary{UnaryOp::address}, {at("A", 3)}, 0);
  EXPECT_FALSE(with_stride(of_array({eval(make::assign(name("B"), address))}), 0, 8, 128));
  EXPECT_TRUE(with_stride(of_array({eval(make::call("f", {name("A")}))}), 1, 8, 128));
  EXPECT_FALSE(with_stride(of_array({}), 2, 8, 128));
}

const For& loop_in(const Body& body) {
  return std::get<For>(body.front().node);
}

TEST(WithStride, UnrollsShortLoopsAroundItsEntries) {
  const Body add{eval(make::assign(make::index(name("A"), name("j")), at("B", 1)))};
  const auto strided = with_stride(
      of_array({loop("q", 4, {loop("i", 10, {loop("j", 10, Body(add))})})}), 0, 32, 128);
  ASSERT_TRUE(strided);
  const For& points = loop_in(strided->functions.back().body);
  EXPECT_FALSE(points.is_unrolled);  // 400 steps
  EXPECT_TRUE(loop_in(points.body).is_unrolled);
  EXPECT_TRUE(loop_in(loop_in(points.body).body).is_unrolled);
  const auto longer = with_stride(
      of_array({loop("q", 4, {loop("i", 10, {loop("j", 10, Body(add))})})}), 0, 32, 400);
  ASSERT_TRUE(longer);
  EXPECT_TRUE(loop_in(longer->functions.back().body).is_unrolled);
}

TEST(WithStride, LeavesOtherLoopsAsTheyAre) {
  const Body other{eval(make::assign(make::index(name("B"), name("j")), at("B", 1)))};
  const auto strided = with_stride(of_array({loop("j", 4, Body(other))}), 0, 32, 128);
  ASSERT_TRUE(strided);
  EXPECT_FALSE(loop_in(strided->functions.back().body).is_unrolled);
}

}  // namespace
}  // namespace op2::kernel
