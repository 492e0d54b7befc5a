// SPDX-License-Identifier: BSD-3-Clause
#include "base/digest.hpp"

#include <gtest/gtest.h>

namespace op2 {
namespace {

TEST(Digest, IsStableAcrossProcesses) {
  EXPECT_EQ(digest(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_NE(digest("a"), digest("b"));
}

}  // namespace
}  // namespace op2
