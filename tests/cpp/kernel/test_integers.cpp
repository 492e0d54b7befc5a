// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/integers.hpp"

#include <gtest/gtest.h>

#include "ast.hpp"

namespace op2::kernel {
namespace {

using ast::lit;
using ast::name;

TEST(IntegerOf, ReadsWhatCCallsIntegers) {
  EXPECT_EQ(integer_of("12"), 12);
  EXPECT_EQ(integer_of("0x1fUL"), 31);
  EXPECT_EQ(integer_of("017"), 15);
  EXPECT_EQ(integer_of("0"), 0);
  EXPECT_EQ(integer_of("1.0"), std::nullopt);
  EXPECT_EQ(integer_of("'a'"), std::nullopt);
  EXPECT_EQ(integer_of("\"\""), std::nullopt);
  EXPECT_EQ(integer_of("99999999999999999999"), std::nullopt);
}

TEST(Apply, IsCsArithmeticWhereItIsDefined) {
  EXPECT_EQ(apply(BinaryOp::divide, -7, 2), -3);
  EXPECT_EQ(apply(BinaryOp::modulo, -7, 2), -1);
  EXPECT_EQ(apply(BinaryOp::divide, 1, 0), std::nullopt);
  EXPECT_EQ(apply(BinaryOp::shift_left, 1, 40), std::nullopt);
  EXPECT_EQ(apply(BinaryOp::multiply, std::int64_t{1} << 40, 2), std::nullopt);
  EXPECT_EQ(apply(BinaryOp::logical_or, 0, 5), 1);
  EXPECT_EQ(apply(UnaryOp::bit_not, 0), -1);
  EXPECT_EQ(apply(UnaryOp::dereference, 0), std::nullopt);
}

TEST(IntegerValue, KnowsSomeNames) {
  const Integers known{{"n", 3}};
  EXPECT_EQ(integer_value(ast::mul(name("n"), ast::add(lit("1"), name("n"))), known), 12);
  EXPECT_EQ(integer_value(ast::ternary(lit("0"), name("m"), name("n")), known), 3);
  EXPECT_EQ(integer_value(ast::ternary(name("m"), lit("1"), lit("1")), known), std::nullopt);
  EXPECT_EQ(integer_value(name("m"), known), std::nullopt);
}

TEST(IntegerValue, IsOfTheTypeThatCComputesWith) {
  const auto typed = [](Expr expr, Base base) {
    expr.type = scalar(base);
    return expr;
  };
  const Expr one = typed(lit("1"), Base::int32);
  const Expr none = typed(lit("0u"), Base::uint32);
  const Expr minus = typed(ast::unary(UnaryOp::minus, one), Base::int32);
  EXPECT_EQ(integer_value(minus, {}), -1);
  EXPECT_EQ(integer_value(typed(ast::binary(BinaryOp::subtract, none, one), Base::uint32), {}),
            std::nullopt);
  EXPECT_EQ(integer_value(typed(ast::binary(BinaryOp::less, minus, none), Base::int32), {}),
            std::nullopt);
  const Expr many = typed(lit("300"), Base::int32);
  const Expr cut{
      .node = Cast{scalar(Base::uint8)}, .operands = {many}, .type = scalar(Base::uint8)};
  EXPECT_EQ(integer_value(cut, {}), std::nullopt);
}

Stmt loop_over(Expr start, BinaryOp test, Expr bound, Expr step) {
  return {.node = For{.init = {ast::eval(ast::assign(name("i"), std::move(start)))},
                      .condition = ast::binary(test, name("i"), std::move(bound)),
                      .step = std::move(step),
                      .body = {}}};
}

std::optional<std::int64_t> trips(const Stmt& stmt) {
  return trip_count(std::get<For>(stmt.node), {{"n", 5}});
}

TEST(TripCount, CountsUpAndDown) {
  const Expr up = ast::unary(UnaryOp::post_increment, name("i"));
  const Expr down = ast::unary(UnaryOp::pre_decrement, name("i"));
  const Expr by_two = ast::update(BinaryOp::add, name("i"), lit("2"));
  EXPECT_EQ(trips(loop_over(lit("0"), BinaryOp::less, name("n"), up)), 5);
  EXPECT_EQ(trips(loop_over(lit("0"), BinaryOp::less_equal, name("n"), by_two)), 3);
  EXPECT_EQ(trips(loop_over(name("n"), BinaryOp::greater, lit("0"), down)), 5);
  EXPECT_EQ(trips(loop_over(name("n"), BinaryOp::greater_equal, lit("0"), down)), 6);
  EXPECT_EQ(trips(loop_over(lit("0"), BinaryOp::not_equal, lit("4"), by_two)), 2);
  EXPECT_EQ(trips(loop_over(lit("9"), BinaryOp::less, name("n"), up)), 0);
  EXPECT_EQ(trips(ast::loop("i", 7, {})), 7);
}

TEST(TripCount, DoesNotGuess) {
  const Expr up = ast::unary(UnaryOp::post_increment, name("i"));
  EXPECT_EQ(trips(loop_over(lit("0"), BinaryOp::less, name("m"), up)), std::nullopt);
  EXPECT_EQ(trips(loop_over(lit("0"), BinaryOp::greater, lit("4"), up)), std::nullopt);
  EXPECT_EQ(trips(loop_over(name("m"), BinaryOp::less, lit("4"), up)), std::nullopt);
  const Expr other = ast::unary(UnaryOp::post_increment, name("j"));
  EXPECT_EQ(trips(loop_over(lit("0"), BinaryOp::less, lit("4"), other)), std::nullopt);
  EXPECT_EQ(trips({.node = For{}}), std::nullopt);
}

TEST(ConstantIntegers, AreThoseOfTheTables) {
  const Type constant{.base = Base::int32, .is_const = true, .derivation = {}};
  const KernelBody body =
      ast::kernel_with({ast::function("k", {}, {})},
                       {{.name = "n", .type = constant, .value = lit("3")},
                        {.name = "m", .type = constant, .value = ast::add(name("n"), lit("1"))},
                        {.name = "t", .type = ast::array(constant, 1), .value = lit("1")}});
  EXPECT_EQ(constant_integers(body), (Integers{{"m", 4}, {"n", 3}}));
}

}  // namespace
}  // namespace op2::kernel
