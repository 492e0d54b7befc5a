// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_values.hpp"

#include <gtest/gtest.h>

#include "lower/lanes_varying.hpp"

namespace op2::lower {
namespace {

using kernel::Base;
using kernel::BinaryOp;
using kernel::Expr;

const LaneValues values(4, Base::int64);

Expr vector_of(Base base) {
  return typed::name("x", values.vector(base));
}

std::string kernel_on_lanes(const Expr& expr) {
  const auto* call = std::get_if<kernel::Call>(&expr.node);
  return call == nullptr ? "" : call->function;
}

TEST(LanesValues, ConvertOnlyWhatHasAnotherType) {
  EXPECT_EQ(values.to(Base::float64, vector_of(Base::float64), true), vector_of(Base::float64));
  const Expr narrow = values.to(Base::float32, vector_of(Base::float64), true);
  EXPECT_TRUE(std::holds_alternative<kernel::Cast>(narrow.node));
  EXPECT_EQ(narrow.type, values.vector(Base::float32));
  const Expr one = typed::literal("1", Base::int32);
  EXPECT_EQ(values.to(Base::int32, one, false), one);
  EXPECT_EQ(values.to(Base::float64, one, true).type, values.vector(Base::float64));
}

TEST(LanesValues, HaveNoVectorsOfBool) {
  EXPECT_EQ(lane_base(Base::boolean), Base::int32);
  const Expr made = values.to(Base::boolean, vector_of(Base::float64), true);
  EXPECT_EQ(made.type, values.vector(Base::int32));
}

TEST(LanesValues, OperatorsConvertAsInC) {
  const Expr sum = values.arithmetic(BinaryOp::add, vector_of(Base::float32), Base::float32,
                                     vector_of(Base::float64), Base::float64, std::nullopt);
  EXPECT_EQ(sum.type, values.vector(Base::float64));
  const Expr shifted = values.arithmetic(BinaryOp::shift_left, vector_of(Base::int32), Base::int32,
                                         vector_of(Base::int64), Base::int64, std::nullopt);
  EXPECT_EQ(shifted.type, values.vector(Base::int32));
}

TEST(LanesValues, LanesThatAreOffDoNotDivideByZero) {
  const Expr x = vector_of(Base::int32);
  const Expr on = typed::name("m", values.vector(Base::int64));
  const auto divisor = [&x](const std::optional<Expr>& mask) {
    return values.arithmetic(BinaryOp::modulo, x, Base::int32, x, Base::int32, mask).operands[1];
  };
  EXPECT_EQ(divisor(std::nullopt), x);
  EXPECT_EQ(kernel_on_lanes(divisor(on)), "op2_blend_int32x4");
}

TEST(LanesValues, ComparisonsAreMasksOfTheKernelsWidth) {
  const Expr x = vector_of(Base::float32);
  const Expr less = values.compared(BinaryOp::less, Base::float32, x, x);
  EXPECT_EQ(less.type, values.vector(Base::int64));
  EXPECT_TRUE(std::holds_alternative<kernel::Cast>(less.node));
  EXPECT_EQ(values.mask_for(Base::float32, less).type, values.vector(Base::int32));
  EXPECT_EQ(values.truth(less).type, values.vector(Base::int32));
}

TEST(LanesValues, ComplexNumbersGoThroughFunctions) {
  const Expr z = vector_of(Base::complex128);
  const auto by = [&z](BinaryOp op) {
    return kernel_on_lanes(
        values.arithmetic(op, z, Base::complex128, z, Base::complex128, std::nullopt));
  };
  EXPECT_EQ(by(BinaryOp::divide), "op2_divide_complex128x4");
  EXPECT_THROW((void)by(BinaryOp::modulo), Refusal);
  EXPECT_EQ(kernel_on_lanes(values.negated(z)), "op2_negate_complex128x4");
  EXPECT_EQ(kernel_on_lanes(values.complement(z)), "op2_conj_complex128x4");
  EXPECT_EQ(kernel_on_lanes(values.to(Base::complex128, vector_of(Base::float64), true)),
            "op2_join_complex128x4");
  EXPECT_EQ(kernel_on_lanes(values.to(Base::float64, z, true)), "op2_creal_complex128x4");
}

}  // namespace
}  // namespace op2::lower
