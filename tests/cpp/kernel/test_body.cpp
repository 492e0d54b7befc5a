// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/body.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "ast.hpp"
#include "base/error.hpp"

namespace op2::kernel {
namespace {

TEST(Base, CoversEveryDType) {
  for (std::size_t i = 0; i < n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (is_half(dtype)) {  // of memory alone, where words are in the text
      EXPECT_EQ(base_of(dtype), Base::uint16);
      continue;
    }
    EXPECT_EQ(dtype_of(base_of(dtype)), dtype);
    EXPECT_EQ(base_from_name(name_of(base_of(dtype))), base_of(dtype));
    EXPECT_EQ(c_name_of(base_of(dtype)), c_name_of(dtype));
  }
  EXPECT_EQ(dtype_of(Base::boolean), DType::uint8);
  EXPECT_EQ(dtype_of(Base::none), std::nullopt);
  EXPECT_EQ(base_from_name("void"), Base::none);
  EXPECT_THROW((void)base_from_name("float16"), InternalError);
}

TEST(Type, StepsFromTheOutsideIn) {
  const Type rows = pointer_to(ast::array(scalar(Base::float64), 2));  // double (*x)[2]
  EXPECT_TRUE(rows.is_pointer());
  EXPECT_EQ(rows.depth(), 2);
  EXPECT_TRUE(element_of(rows).is_array());
  EXPECT_EQ(n_scalars(element_of(rows)), 2);
  EXPECT_EQ(n_scalars(rows), 1);
  EXPECT_TRUE(element_of(element_of(rows)).is_scalar());
  EXPECT_EQ(decayed(element_of(rows)), pointer_to(scalar(Base::float64)));
  EXPECT_FALSE(element_of(scalar(Base::float64)).is_known());
}

TEST(Operators, RoundTripThroughTheirSpelling) {
  for (int i = 0; i <= static_cast<int>(BinaryOp::comma); ++i) {
    const auto op = static_cast<BinaryOp>(i);
    EXPECT_EQ(binary_from(spelling_of(op)), op);
  }
  for (int i = 0; i <= static_cast<int>(UnaryOp::post_decrement); ++i) {
    const auto op = static_cast<UnaryOp>(i);
    EXPECT_EQ(unary_from(spelling_of(op), op >= UnaryOp::post_increment), op);
  }
  EXPECT_THROW((void)binary_from("?"), InternalError);
  EXPECT_THROW((void)unary_from("?", false), InternalError);
}

TEST(KernelBody, EqualityIgnoresLinesOnly) {
  const Expr value = ast::assign(ast::at("x", 0), ast::lit("1.0"));
  const KernelBody one = ast::kernel_with({ast::eval(value, 1)});
  EXPECT_EQ(one, ast::kernel_with({ast::eval(value, 7)}));
  EXPECT_NE(one, ast::kernel_with({ast::eval(ast::assign(ast::at("x", 0), ast::lit("1.")), 1)}));
  EXPECT_NE(one, ast::kernel_with({ast::eval(ast::assign(ast::at("y", 0), ast::lit("1.0")), 1)}));
  KernelBody other = one;
  other.functions.front().parameters.front().type.base = Base::float32;
  EXPECT_NE(one, other);
}

TEST(KernelBody, TheEntryIsTheLastFunction) {
  const KernelBody body =
      ast::kernel_with({ast::function("f", {}, {}), ast::function("k", {}, {})});
  EXPECT_EQ(body.entry().name, "k");
  EXPECT_EQ(body.function("f"), &body.functions.front());
  EXPECT_EQ(body.function("g"), nullptr);
}

TEST(KernelKey, KeepsNeighbouringFieldsApart) {
  Kernel kernel;
  kernel.name = "k";
  const std::vector<std::string> ab{"a", "b"};
  const std::vector<std::string> joined{"ab"};
  const std::vector<std::string> none;
  const std::string key = kernel_key(kernel, ab, none, "2026");
  EXPECT_NE(key, kernel_key(kernel, joined, none, "2026"));
  EXPECT_NE(key, kernel_key(kernel, none, ab, "2026"));
  EXPECT_NE(key, kernel_key(kernel, ab, none, "2027"));
  kernel.text = "comments do not count";
  EXPECT_EQ(key, kernel_key(kernel, ab, none, "2026"));
  kernel.options = {"-DN=3"};
  EXPECT_NE(key, kernel_key(kernel, ab, none, "2026"));
}

}  // namespace
}  // namespace op2::kernel
