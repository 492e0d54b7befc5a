// SPDX-License-Identifier: BSD-3-Clause
#include "ir/strided.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "ast.hpp"
#include "ir/kernel_make.hpp"
#include "ir/kernel_types.hpp"

namespace op2::ir {
namespace {

using namespace ast;

KernelBody of_array(Body body) {
  return infer_types(
      kernel({function("k", {{"A", pointer()}, {"B", pointer()}}, std::move(body))}, {}));
}

TEST(WithStride, SpreadsTheEntriesOfOneArray) {
  const KernelBody body = of_array({eval(make::assign(at("A", 3), at("B", 1)))});
  const KernelBody wanted = of_array({eval(make::assign(
      make::index(name("A"), make::binary(BinaryOp::multiply, make::number(3), make::number(32))),
      at("B", 1)))});
  EXPECT_EQ(with_stride(body, 0, 32), wanted);
}

TEST(WithStride, ReadsIndicesThatAreEntriesThemselves) {
  const auto spread = [](Expr index) {
    return make::index(name("A"),
                       make::binary(BinaryOp::multiply, std::move(index), make::number(8)));
  };
  const KernelBody body =
      of_array({eval(make::assign(make::index(name("A"), at("A", 1)), at("B", 0)))});
  EXPECT_EQ(with_stride(body, 0, 8),
            of_array({eval(make::assign(spread(spread(make::number(1))), at("B", 0)))}));
}

TEST(WithStride, IsNotPossibleWhereTheArrayIsMoreThanItsEntries) {
  const Expr added = make::binary(BinaryOp::add, name("A"), make::number(1));
  EXPECT_FALSE(with_stride(of_array({eval(make::assign(name("B"), name("A")))}), 0, 8));
  EXPECT_FALSE(with_stride(of_array({eval(make::index(added, make::number(0)))}), 0, 8));
  EXPECT_FALSE(with_stride(of_array({eval(make::call("f", {name("A")}))}), 0, 8));
  const Expr address = make::of(Unary{UnaryOp::address}, {at("A", 3)}, 0);
  EXPECT_FALSE(with_stride(of_array({eval(make::assign(name("B"), address))}), 0, 8));
  EXPECT_TRUE(with_stride(of_array({eval(make::call("f", {name("A")}))}), 1, 8));
  EXPECT_FALSE(with_stride(of_array({}), 2, 8));
}

}  // namespace
}  // namespace op2::ir
