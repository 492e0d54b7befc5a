// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "ast.hpp"
#include "kernel/checks.hpp"
#include "kernel/walk.hpp"

namespace op2::kernel {
namespace {

using namespace ast;
using Names = std::vector<std::string>;

/// The checks that a kernel with `double *x`, `short *s`, `long *l` and `unsigned long *u` gets.
Names checks_of(Body body) {
  const auto of = [](Base base) { return pointer_to(scalar(base)); };
  const KernelBody made = kernel_with({function("k",
                                                {{"x", of(Base::float64)},
                                                 {"s", of(Base::int16)},
                                                 {"l", of(Base::int64)},
                                                 {"u", of(Base::uint64)}},
                                                std::move(body))});
  const std::optional<Access> any = Access::rw;
  const CheckedBody checked =
      with_checks(made, {.accesses = {any, any, any, any}, .run = {.extents = {2, 2, 2, 2}}});
  Names found;
  for (const CheckSite& site : checked.sites) {
    found.emplace_back(check_names[static_cast<std::size_t>(site.check)]);
  }
  return found;
}

Names checks_of(Expr value) {
  return checks_of({eval(std::move(value))});
}

TEST(CheckedConversions, IntegersThatGoIntoNarrowerOnes) {
  EXPECT_EQ(checks_of(assign(at("s", 0), at("l", 0))), (Names{"conversion"}));
  EXPECT_EQ(checks_of(assign(at("l", 0), at("u", 0))), (Names{"conversion"}));
  EXPECT_EQ(checks_of({declare("n", whole(), at("l", 0))}), (Names{"conversion"}));
  EXPECT_EQ(checks_of({declare(
                "n", array(whole(), 2),
                Expr{.node = InitList{}, .operands = {at("l", 0), lit("1")}, .type = {}})}),
            (Names{"conversion"}));
}

TEST(CheckedConversions, WhatFitsIsNotWatched) {
  EXPECT_EQ(checks_of(assign(at("l", 0), at("s", 0))), Names{});
  EXPECT_EQ(checks_of(assign(at("u", 0), at("l", 0))), Names{});  // C says what comes of it
  EXPECT_EQ(checks_of(assign(at("s", 0), lit("32767"))), Names{});
  EXPECT_EQ(checks_of(assign(at("s", 0), lit("32768"))), (Names{"conversion"}));
  EXPECT_EQ(checks_of(assign(at("s", 0), less(at("l", 0), at("l", 1)))), Names{});
  EXPECT_EQ(checks_of(assign(at("s", 0), binary(BinaryOp::bit_and, at("l", 0), lit("255")))),
            Names{});
  EXPECT_EQ(checks_of(assign(at("s", 0), binary(BinaryOp::modulo, at("l", 0), lit("32768")))),
            Names{});
  EXPECT_EQ(checks_of(assign(at("s", 0), ternary(less(at("l", 0), lit("2")), lit("1"), lit("2")))),
            Names{});
}

TEST(CheckedConversions, ANegativeNumberThatBecomesUnsignedIsLarge) {
  const auto either = [](Expr then, Expr otherwise) {
    return ternary(less(at("l", 0), lit("2")), std::move(then), std::move(otherwise));
  };
  // of type unsigned: -1 is 4294967295 there
  EXPECT_EQ(checks_of({declare("n", whole(), either(unary(UnaryOp::minus, lit("1")), lit("1u")))}),
            (Names{"conversion"}));
  EXPECT_EQ(checks_of(assign(at("l", 0), either(unary(UnaryOp::minus, lit("1")), lit("1ul")))),
            (Names{"conversion"}));
  EXPECT_EQ(checks_of(assign(at("l", 0), either(unary(UnaryOp::minus, lit("1")), lit("1u")))),
            Names{});
  EXPECT_EQ(checks_of({declare("n", whole(), either(lit("1"), lit("1u")))}), Names{});
}

TEST(CheckedConversions, WhoCastsKnowsWhatIsLost) {
  EXPECT_EQ(checks_of(assign(at("s", 0), cast(scalar(Base::int16), at("l", 0)))), Names{});
  EXPECT_EQ(checks_of(assign(at("s", 0), cast(scalar(Base::int16), at("x", 0)))),
            (Names{"truncation"}));
}

TEST(CheckedConversions, RealNumbersThatBecomeIntegers) {
  EXPECT_EQ(checks_of(assign(at("l", 0), at("x", 0))), (Names{"truncation"}));
  EXPECT_EQ(checks_of(assign(at("u", 0), at("x", 0))), (Names{"truncation"}));
  EXPECT_EQ(checks_of(update(BinaryOp::multiply, at("s", 0), lit("0.5"))), (Names{"truncation"}));
}

TEST(CheckedConversions, UpdatesOfNarrowIntegers) {
  EXPECT_EQ(checks_of(update(BinaryOp::add, at("s", 0), at("s", 1))),
            (Names{"overflow", "conversion"}));
  EXPECT_EQ(checks_of(unary(UnaryOp::post_increment, at("s", 0))),
            (Names{"overflow", "conversion"}));
}

TEST(CheckedConversions, ShiftsToTheLeft) {
  EXPECT_EQ(checks_of(assign(at("l", 0), binary(BinaryOp::shift_left, at("l", 1), at("l", 0)))),
            (Names{"shift", "overflow"}));
  EXPECT_EQ(checks_of(assign(at("u", 0), binary(BinaryOp::shift_left, at("u", 1), at("l", 0)))),
            (Names{"shift"}));
  EXPECT_EQ(checks_of(assign(at("l", 0), binary(BinaryOp::shift_right, at("l", 1), at("l", 0)))),
            (Names{"shift"}));
}

}  // namespace
}  // namespace op2::kernel
