// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/types.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ast.hpp"

namespace op2::kernel {
namespace {

TEST(Literals, HaveTheTypesOfC) {
  const std::vector<std::pair<std::string, Base>> cases{{"1", Base::int32},
                                                        {"2147483648", Base::int64},
                                                        {"0x80000000", Base::uint32},
                                                        {"1u", Base::uint32},
                                                        {"1L", Base::int64},
                                                        {"1ul", Base::uint64},
                                                        {"1.0", Base::float64},
                                                        {"1.f", Base::float32},
                                                        {"1e3", Base::float64},
                                                        {"0x1p3", Base::float64},
                                                        {"0xef", Base::int32},
                                                        {"'a'", Base::int32},
                                                        {"4294967296u", Base::uint64},
                                                        {"1e-3F", Base::float32},
                                                        {"18446744073709551615UL", Base::uint64}};
  for (const auto& [spelling, base] : cases) {
    EXPECT_EQ(type_of_literal(spelling).base, base) << spelling;
  }
  EXPECT_TRUE(type_of_literal("\"a\"").is_pointer());
}

// Type of an expression over double *x, int n, float f, _Bool b, unsigned u, double _Complex z.
Type type_of(Expr expr) {
  const std::vector<Parameter> parameters{{"x", ast::pointer()},
                                          {"n", ast::whole()},
                                          {"f", scalar(Base::float32)},
                                          {"b", scalar(Base::boolean)},
                                          {"u", scalar(Base::uint32)},
                                          {"z", scalar(Base::complex128)},
                                          {"a", ast::array(ast::array(ast::number(), 2), 3)}};
  const FunctionDef half{
      .name = "half", .result = scalar(Base::float32), .parameters = {}, .body = {}, .line = 0};
  const KernelBody body =
      ast::kernel_with({half, ast::function("k", parameters, {ast::eval(std::move(expr))})});
  return std::get<Evaluate>(body.entry().body.front().node).value.type;
}

TEST(InferTypes, ConvertsAsCDoes) {
  using namespace ast;
  EXPECT_EQ(type_of(add(name("n"), name("f"))).base, Base::float32);
  EXPECT_EQ(type_of(add(name("f"), lit("1.0"))).base, Base::float64);
  EXPECT_EQ(type_of(add(name("b"), name("b"))).base, Base::int32);
  EXPECT_EQ(type_of(add(name("u"), name("n"))).base, Base::uint32);
  EXPECT_EQ(type_of(add(name("u"), lit("1L"))).base, Base::int64);
  EXPECT_EQ(type_of(mul(name("z"), name("f"))).base, Base::complex128);
  EXPECT_EQ(type_of(less(name("f"), lit("1.0"))).base, Base::int32);
  EXPECT_EQ(type_of(unary(UnaryOp::minus, name("b"))).base, Base::int32);
  EXPECT_EQ(type_of(binary(BinaryOp::shift_left, name("u"), lit("1L"))).base, Base::uint32);
  EXPECT_EQ(type_of(ternary(name("n"), name("n"), lit("1.0f"))).base, Base::float32);
  EXPECT_EQ(type_of(assign(name("f"), lit("1.0"))).base, Base::float32);
  EXPECT_EQ(type_of(binary(BinaryOp::comma, name("n"), name("f"))).base, Base::float32);
}

TEST(InferTypes, FollowsPointers) {
  using namespace ast;
  EXPECT_EQ(type_of(at("x", 0)), number());
  EXPECT_EQ(type_of(add(lit("1"), name("x"))), pointer());
  EXPECT_EQ(type_of(binary(BinaryOp::subtract, name("x"), name("x"))).base, Base::int64);
  EXPECT_EQ(type_of(unary(UnaryOp::dereference, name("x"))), number());
  EXPECT_EQ(type_of(unary(UnaryOp::address, at("x", 1))), pointer());
  EXPECT_EQ(type_of(at("a", 0)), array(number(), 2));
  EXPECT_EQ(type_of(at(at("a", 0), lit("1"))), number());
  EXPECT_EQ(type_of(cast(pointer_to(whole()), name("x"))), pointer_to(whole()));
}

TEST(InferTypes, ASubscriptEitherWayHasTheArrayInFront) {
  using namespace ast;
  EXPECT_EQ(type_of(at(lit("1"), name("x"))), number());
  EXPECT_EQ(type_of(at(lit("1"), name("a"))), array(number(), 2));
  EXPECT_FALSE(type_of(at(lit("1"), lit("0"))).is_known());
  const KernelBody body = ast::kernel_with({ast::eval(at(lit("1"), name("x")))});
  const Expr& expr = std::get<Evaluate>(body.entry().body.front().node).value;
  EXPECT_EQ(std::get<Name>(expr.operands[0].node).name, "x");
}

TEST(InferTypes, KnowsFunctions) {
  using namespace ast;
  EXPECT_EQ(type_of(call("half", {})).base, Base::float32);
  EXPECT_EQ(type_of(call("sqrt", {name("f")})).base, Base::float64);
  EXPECT_EQ(type_of(call("__builtin_complex", {lit("0.0f"), lit("1.0f")})).base, Base::complex64);
  EXPECT_FALSE(type_of(call("mystery", {})).is_known());
  EXPECT_FALSE(type_of(add(name("gam"), lit("1.0"))).is_known());
}

TEST(InferTypes, InnerDeclarationsHideOuterOnes) {
  using namespace ast;
  const KernelBody body = kernel_with(
      Body{declare("v", whole()),
           branch(lit("1"), {declare("v", number()), eval(name("v"))}, {eval(name("v"))})});
  const auto& node = std::get<If>(body.entry().body[1].node);
  EXPECT_EQ(std::get<Evaluate>(node.then_body[1].node).value.type.base, Base::float64);
  EXPECT_EQ(std::get<Evaluate>(node.else_body[0].node).value.type.base, Base::int32);
}

}  // namespace
}  // namespace op2::kernel
