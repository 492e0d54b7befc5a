// SPDX-License-Identifier: BSD-3-Clause
#include "cg/lane_gathers.hpp"

#include <gtest/gtest.h>

#include "lane_text.hpp"

namespace op2::cg {
namespace {

using testing::count;
using testing::text_of;

std::string fetches(DType dtype, int lanes, int dim, int gather_bytes) {
  return text_of(c_dialect(), [=](Context& context) {
    (void)gather_instruction(context, dtype, lanes, dim, gather_bytes);
  });
}

TEST(LaneGathers, AreOfDoublesAndFloats) {
  EXPECT_TRUE(has_gather_instruction(DType::float64, 8, 64));
  EXPECT_TRUE(has_gather_instruction(DType::float32, 16, 32));
  EXPECT_FALSE(has_gather_instruction(DType::float64, 8, 0));
  EXPECT_FALSE(has_gather_instruction(DType::float64, 2, 64));
  EXPECT_FALSE(has_gather_instruction(DType::int32, 8, 64));
}

TEST(LaneGathers, OneInstructionAComponent) {
  const std::string text = fetches(DType::float64, 8, 3, 64);
  EXPECT_EQ(count(text, "__builtin_ia32_gatherdiv8df"), 1) << text;
  EXPECT_EQ(count(text, " = op2_fetch_float64x8("), 3) << text;
  EXPECT_EQ(count(text, "__clang__"), 0) << text;
}

TEST(LaneGathers, CompilersCallThoseOfAvx2DifferentNames) {
  const std::string text = fetches(DType::float32, 4, 1, 32);
  EXPECT_EQ(count(text, "__builtin_ia32_gatherq_ps256"), 1) << text;
  EXPECT_EQ(count(text, "__builtin_ia32_gatherdiv4sf256"), 1) << text;
}

TEST(LaneGathers, MoreLanesThanAnInstructionHasAreJoined) {
  const std::string text = fetches(DType::float64, 8, 1, 32);
  EXPECT_EQ(count(text, "= __builtin_shufflevector(at, at,"), 2) << text;
  EXPECT_EQ(count(text, "  __builtin_shufflevector(op2_fetch_float64x4(data, at0)"), 1) << text;
}

}  // namespace
}  // namespace op2::cg
