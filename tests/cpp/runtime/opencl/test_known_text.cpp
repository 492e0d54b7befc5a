// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/opencl/known_text.hpp"

#include <gtest/gtest.h>

namespace op2::runtime::opencl {
namespace {

TEST(KnownText, ComesBackFromItsBytes) {
  const std::optional<KnownText> text = known_text(bytes_of({"-DN=3 -w", "int f;\n\n"}));
  ASSERT_TRUE(text);
  EXPECT_EQ(text->options, "-DN=3 -w");
  EXPECT_EQ(text->source, "int f;\n\n");
  EXPECT_FALSE(
      known_text("\x7f"
                 "ELF"));
  EXPECT_FALSE(known_text(""));
}

}  // namespace
}  // namespace op2::runtime::opencl
