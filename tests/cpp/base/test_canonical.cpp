// SPDX-License-Identifier: BSD-3-Clause
#include "base/canonical.hpp"

#include <gtest/gtest.h>

namespace op2 {
namespace {

TEST(Canonical, FieldBoundariesAreUnambiguous) {
  EXPECT_NE(Canonical{}.text("ab").text("c").str(), Canonical{}.text("a").text("bc").str());
  EXPECT_NE(Canonical{}.text("1").str(), Canonical{}.number(1).str());
  EXPECT_NE(Canonical{}.open("x").close().text("").str(),
            Canonical{}.open("x").text("").close().str());
}

}  // namespace
}  // namespace op2
