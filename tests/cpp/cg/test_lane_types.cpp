// SPDX-License-Identifier: BSD-3-Clause
#include "cg/lane_types.hpp"

#include <gtest/gtest.h>

#include "lane_text.hpp"

namespace op2::cg {
namespace {

using testing::count;
using testing::text_of;

TEST(LaneTypes, AreDefinedOnce) {
  const std::string text = text_of(c_dialect(), [](Context& context) {
    EXPECT_EQ(vector_type(context, DType::float64, 8), "op2_float64x8");
    EXPECT_EQ(vector_type(context, DType::float64, 8), "op2_float64x8");
  });
  EXPECT_EQ(count(text, "typedef double op2_float64x8 __attribute__((vector_size(64)));"), 1);
}

TEST(LaneTypes, OfComplexNumbersHoldTwoVectors) {
  const std::string text = text_of(c_dialect(), [](Context& context) {
    EXPECT_EQ(vector_type(context, DType::complex64, 4), "op2_complex64x4");
  });
  EXPECT_EQ(count(text, "op2_float32x4 re;"), 1) << text;
  EXPECT_EQ(count(text, "} op2_complex64x4;"), 1) << text;
  EXPECT_EQ(part_of(DType::complex64), DType::float32);
  EXPECT_EQ(mask_dtype(DType::complex64), DType::int32);
}

TEST(LaneTypes, RowsMayStartAnywhere) {
  const std::string text = text_of(c_dialect(), [](Context& context) {
    EXPECT_EQ(row_type(context, DType::float64, 4), "op2_float64x4_row");
  });
  EXPECT_EQ(count(text, "vector_size(32), aligned(8), may_alias"), 1) << text;
}

TEST(LaneTypes, ComplexNumbersAreMadeOfTheirParts) {
  EXPECT_EQ(complex_value(Context(c_dialect()), DType::complex64, "a", "b"),
            "__builtin_complex(a, b)");
  EXPECT_EQ(complex_value(Context(opencl_dialect()), DType::complex64, "a", "b"), "(float2)(a, b)");
}

TEST(LaneTypes, OpenclHasItsOwn) {
  const std::string text = text_of(opencl_dialect(), [](Context& context) {
    (void)vector_type(context, DType::uint8, 16);
    (void)row_type(context, DType::float32, 2);
    EXPECT_EQ(in_global_space(context, "float"), "__global float");
    EXPECT_EQ(bits_as(context, "long4", "x"), "__builtin_astype(x, long4)");
  });
  EXPECT_EQ(count(text, "typedef uchar16 op2_uint8x16;"), 1) << text;
  EXPECT_EQ(count(text, "#pragma GCC diagnostic ignored \"-Wpsabi\""), 1) << text;
  EXPECT_EQ(count(text, "ext_vector_type(2), aligned(4), may_alias"), 1) << text;
}

}  // namespace
}  // namespace op2::cg
