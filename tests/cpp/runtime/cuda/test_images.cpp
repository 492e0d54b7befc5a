// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/cuda/images.hpp"

#include <gtest/gtest.h>

namespace op2::runtime::cuda {
namespace {

TEST(Images, TheNewestOfTheSameGenerationIsTaken) {
  EXPECT_EQ(fitting_image("sm_89", {"sm_80", "sm_86", "sm_90"}), 1U);
  EXPECT_EQ(fitting_image("sm_80", {"sm_80", "sm_86", "sm_90"}), 0U);
  EXPECT_EQ(fitting_image("sm_90", {"sm_90"}), 0U);
  EXPECT_EQ(fitting_image("sm_100", {"sm_90", "sm_100"}), 1U);
}

TEST(Images, OtherGenerationsAndNewerOnesDoNotFit) {
  EXPECT_FALSE(fitting_image("sm_80", {"sm_86", "sm_90", "sm_75"}));
  EXPECT_FALSE(fitting_image("sm_100", {"sm_90"}));
  EXPECT_FALSE(fitting_image("sm_90", {}));
  EXPECT_FALSE(fitting_image("sm_90", {"", "gfx90a", "sm_", "sm_9x"}));
}

}  // namespace
}  // namespace op2::runtime::cuda
