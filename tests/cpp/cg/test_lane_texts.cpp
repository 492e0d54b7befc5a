// SPDX-License-Identifier: BSD-3-Clause
#include "cg/lane_texts.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kernel/lane_functions.hpp"
#include "lane_text.hpp"

namespace op2::cg {
namespace {

using testing::count;
using testing::text_of;

std::string text_for(const Dialect& dialect, std::string_view function, DType dtype, int lanes,
                     int times = 1) {
  return text_of(dialect, [&](Context& context) {
    const auto basic = [](kernel::LaneOp op) {
      return std::string(op == kernel::LaneOp::any ? "some" : "choice");
    };
    for (int i = 0; i < times; ++i) {
      (void)define_lane_text(context, function, dtype, lanes, "scalar", basic);
    }
  });
}

TEST(LaneTexts, FilesAreFoundByFunctionAndType) {
  EXPECT_TRUE(has_lane_text("exp", DType::float64));
  EXPECT_TRUE(has_lane_text("erf", DType::float32));
  EXPECT_FALSE(has_lane_text("erf", DType::float64));
  EXPECT_FALSE(has_lane_text("lgamma", DType::float64));
}

TEST(LaneTexts, GapsAreFilledForAWidth) {
  const std::string text = text_for(c_dialect(), "tanh", DType::float64, 4);
  EXPECT_EQ(count(text, "@"), 0) << text;
  EXPECT_EQ(count(text, "op2_float64x4 op2_near_tanh_float64x4(op2_float64x4 x)"), 1) << text;
  EXPECT_EQ(count(text, "SPDX"), 0) << text;
}

TEST(LaneTexts, FunctionsCalledByATextAreDefinedOnce) {
  const std::string text = text_for(c_dialect(), "sin", DType::float32, 8, 2);
  for (const char* one : {"near_sin", "near_circle", "near_quarters", "fma", "step"}) {
    EXPECT_EQ(count(text, " op2_" + std::string(one) + "_float32x8(op2_float32x8 "), 1)
        << one << "\n"
        << text;
  }
}

TEST(LaneTexts, LanesOutOfRangeCallTheScalarFunction) {
  const std::string text = text_for(c_dialect(), "tan", DType::float64, 2);
  EXPECT_EQ(count(text, "if (mask[lane]) b[lane] = scalar(a[lane]);"), 1) << text;
}

TEST(LaneTexts, OpenclFusesByItsOwnFunction) {
  const std::string text = text_for(opencl_dialect(), "exp", DType::float64, 4);
  EXPECT_EQ(count(text, "return fma(a, b, c);"), 1) << text;
  EXPECT_EQ(count(text, "__FMA__"), 0) << text;
}

}  // namespace
}  // namespace op2::cg
