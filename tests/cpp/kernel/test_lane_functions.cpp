// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/lane_functions.hpp"

#include <gtest/gtest.h>

#include "kernel/make.hpp"

namespace op2::kernel {
namespace {

TEST(LaneFunctions, NamesAreReadBack) {
  for (const LaneOp op :
       {LaneOp::blend, LaneOp::any, LaneOp::lookup, LaneOp::table, LaneOp::pick, LaneOp::put}) {
    const LaneFunction function{op, Base::float64, 8, ""};
    EXPECT_EQ(lane_function(name_of(function)), function);
  }
  for (const LaneOp op : {LaneOp::add, LaneOp::subtract, LaneOp::multiply, LaneOp::divide,
                          LaneOp::negate, LaneOp::equal, LaneOp::join, LaneOp::spread}) {
    const LaneFunction function{op, Base::complex128, 4, ""};
    EXPECT_EQ(lane_function(name_of(function)), function);
  }
  const LaneFunction root{LaneOp::call, Base::float32, 16, "sqrtf"};
  EXPECT_EQ(name_of(root), "op2_sqrtf_float32x16");
  EXPECT_EQ(lane_function("op2_sqrtf_float32x16"), root);
  const LaneFunction builtin{LaneOp::call, Base::float64, 2, "__builtin_isnan"};
  EXPECT_EQ(lane_function(name_of(builtin)), builtin);
  const LaneFunction cube{LaneOp::power, Base::float64, 8, "3"};
  EXPECT_EQ(name_of(cube), "op2_power3_float64x8");
  EXPECT_EQ(lane_function("op2_power3_float64x8"), cube);
}

TEST(LaneFunctions, PowersOfFewFactorsAreToldByALiteral) {
  const auto exponent = [](const char* function, const char* spelling) {
    Expr by = make::of(Literal{spelling}, {}, 0);
    return power_of_call(make::of(Call{function}, {make::name("x"), std::move(by)}, 0));
  };
  EXPECT_EQ(exponent("pow", "2"), "2");
  EXPECT_EQ(exponent("pow", "3.0"), "3");
  EXPECT_EQ(exponent("powf", "4.f"), "4");
  EXPECT_EQ(exponent("__builtin_pow", "3."), "3");
  for (const char* other : {"30.0", "2.5", "3e1", "5", "1", "0x2", "2l"}) {
    EXPECT_EQ(exponent("pow", other), "") << other;
  }
  EXPECT_EQ(exponent("fmod", "2.0"), "");
  EXPECT_EQ(power_of_call(make::name("x")), "");
}

TEST(LaneFunctions, OtherNamesAreNone) {
  for (const char* name : {"sqrt", "op2_", "op2_sqrt", "op2_sqrt_float64", "op2_mine_float64x8",
                           "op2_sqrt_float64x", "op2_sqrt_float64x8y", "op2_sqrt_doublex8"}) {
    EXPECT_FALSE(lane_function(name)) << name;
  }
}

TEST(LaneFunctions, MasksAreAsWideAsTheirValues) {
  EXPECT_EQ(mask_base(Base::float64), Base::int64);
  EXPECT_EQ(mask_base(Base::float32), Base::int32);
  EXPECT_EQ(mask_base(Base::uint16), Base::int16);
  EXPECT_EQ(mask_base(Base::boolean), Base::int8);
  EXPECT_EQ(mask_base(Base::complex64), Base::int32);
  EXPECT_EQ(mask_base(Base::complex128), Base::int64);
  EXPECT_EQ(part_base(Base::complex64), Base::float32);
  EXPECT_EQ(part_base(Base::int8), Base::int8);
}

}  // namespace
}  // namespace op2::kernel
