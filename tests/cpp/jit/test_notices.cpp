// SPDX-License-Identifier: BSD-3-Clause
#include "jit/notices.hpp"

#include <gtest/gtest.h>

namespace op2::jit {
namespace {

TEST(Notices, EachIsGivenOnce) {
  Notices notices;
  notices.give("full");
  notices.give("slow");
  notices.give("full");
  EXPECT_EQ(notices.take(), (std::vector<std::string>{"full", "slow"}));
  notices.give("slow");
  EXPECT_TRUE(notices.take().empty());
}

}  // namespace
}  // namespace op2::jit
