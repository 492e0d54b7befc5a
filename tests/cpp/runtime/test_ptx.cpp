// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/ptx.hpp"

#include <gtest/gtest.h>

#include <string>

namespace op2::runtime {
namespace {

const std::string head = ".target sm_90\n";

TEST(RuntimePtx, ANegationThatTwoMaximaMightForgetBecomesASum) {
  const auto kept = with_signs_kept(
      head + "\tneg.s32 \t%r3, %r2;\n\tmax.s32 \t%r6, %r4, %r3;\n\tmax.s32 \t%r7, %r5, %r6;\n");
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(*kept, head +
                       "\tnot.b32 \t%r3, %r2;\n\tadd.s32 %r3, %r3, 1;\n"
                       "\tmax.s32 \t%r6, %r4, %r3;\n\tmax.s32 \t%r7, %r5, %r6;\n");
}

TEST(RuntimePtx, BothInstructionsStandUnderItsCondition) {
  const auto kept = with_signs_kept(
      head + "min.s32 %r1, %r2, %r3;\nmin.s32 %r1, %r1, %r4;\n@%p1 neg.s32 %r5, %r4;");
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(*kept, head +
                       "min.s32 %r1, %r2, %r3;\nmin.s32 %r1, %r1, %r4;\n"
                       "@%p1 not.b32 %r5, %r4;\n@%p1 add.s32 %r5, %r5, 1;");
}

TEST(RuntimePtx, ANegationOf16BitsThatIsExtendedAfterwardsBecomesASum) {
  const auto kept = with_signs_kept(
      head + "\tshl.b16 \t%rs2, %rs1, 8;\n\tneg.s16 \t%rs3, %rs2;\n\tshr.s16 \t%rs4, %rs3, 8;\n" +
      "\tneg.s32 \t%r3, %r2;\n");
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(*kept, head +
                       "\tshl.b16 \t%rs2, %rs1, 8;\n\tnot.b16 \t%rs3, %rs2;\n"
                       "\tadd.s16 %rs3, %rs3, 1;\n\tshr.s16 \t%rs4, %rs3, 8;\n"
                       "\tneg.s32 \t%r3, %r2;\n");
}

TEST(RuntimePtx, EachFaultBelongsToSomeArchitectures) {
  const std::string extrema = "neg.s32 %r3, %r2;\nmax.s32 %r6, %r4, %r3;\nmax.s32 %r7, %r5, %r6;\n";
  const std::string narrowed = "neg.s16 %rs3, %rs2;\ncvt.s32.s16 %r2, %rs3;\n";
  EXPECT_FALSE(with_signs_kept(".target sm_80\n" + extrema).has_value());
  EXPECT_TRUE(with_signs_kept(".target sm_100a\n" + extrema).has_value());
  EXPECT_TRUE(with_signs_kept(".target sm_80\n" + narrowed).has_value());
  EXPECT_FALSE(with_signs_kept(".target sm_100a\n" + narrowed).has_value());
}

TEST(RuntimePtx, WhatCannotBeForgottenIsLeft) {
  const char* const floats = "neg.f32 %f3, %f2;\nmax.f32 %f6, %f4, %f3;\nmax.f32 %f7, %f5, %f6;\n";
  EXPECT_FALSE(with_signs_kept(head + floats).has_value());
  EXPECT_FALSE(with_signs_kept(head + "neg.s32 %r3, %r2;\nmax.s32 %r6, %r4, %r3;\n").has_value());
  EXPECT_FALSE(
      with_signs_kept(head + "max.s32 %r6, %r4, %r3;\nmax.s32 %r6, %r6, %r5;\n").has_value());
  EXPECT_FALSE(with_signs_kept("").has_value());
  const char* const source = "// neg.s32, max.s32 and max.s32\n";
  EXPECT_FALSE(with_signs_kept(source).has_value());
}

}  // namespace
}  // namespace op2::runtime
