// SPDX-License-Identifier: BSD-3-Clause
#include "cg/layout.hpp"

#include <gtest/gtest.h>

namespace op2::cg {
namespace {

TEST(Layout, IndentsEveryLineAndEndsIt) {
  EXPECT_EQ(laid_out("a = 1;\nb = 2;", 4), "    a = 1;\n    b = 2;\n");
}

TEST(Layout, DropsSharedIndentationAndKeepsTheRest) {
  EXPECT_EQ(laid_out("\n    x = f(1,\n          2);  \n\n    y = 0;\n  \n", 2),
            "  x = f(1,\n        2);\n\n  y = 0;\n");
}

TEST(Layout, LeavesNothingOfWhiteSpace) {
  EXPECT_EQ(laid_out(" \n\t\n", 2), "");
}

TEST(Layout, PutsDirectivesInColumnZeroButNotPragmas) {
  EXPECT_EQ(laid_out("  a = 1;\n#line 3 \"kernel\"\n  #ifdef X\n# pragma omp simd\n  b = 2;", 2),
            "  a = 1;\n#line 3 \"kernel\"\n#ifdef X\n  # pragma omp simd\n  b = 2;\n");
}

}  // namespace
}  // namespace op2::cg
