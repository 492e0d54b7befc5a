// SPDX-License-Identifier: BSD-3-Clause
#include "cg/names.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace op2::cg {
namespace {

using Names = std::vector<std::string>;

TEST(Names, KnowsAnIdentifier) {
  EXPECT_TRUE(is_identifier("_a9"));
  EXPECT_FALSE(is_identifier(""));
  EXPECT_FALSE(is_identifier("9a"));
  EXPECT_FALSE(is_identifier("a b"));
  EXPECT_FALSE(is_identifier("a[3]"));
}

TEST(Names, FindsIdentifiersButNotNumbers) {
  EXPECT_EQ(identifiers_in("x1 = A[off.x] + 0x1f * 2u;"), (Names{"x1", "A", "off", "x"}));
}

TEST(Names, FindsWhatALoopHeaderDeclares) {
  EXPECT_EQ(declared_in("for (int i = 0; i < n; ++i)"), Names{"i"});
  EXPECT_EQ(declared_in("for (const double *p = q; p != e; ++p)"), (Names{"double", "p"}));
  EXPECT_EQ(declared_in("for (i = 0; i < n; ++i)"), Names{});
  EXPECT_EQ(declared_in("if (x < y)"), Names{});
}

TEST(Names, FindsTheFunctionBehindAttributes) {
  EXPECT_EQ(function_name("static inline void f(const double *x, int n)"), "f");
  EXPECT_EQ(function_name("__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void g(int n)"),
            "g");
  EXPECT_EQ(function_name("// for all of [begin, end)\n__global__ void h(int n)  // (here)"), "h");
  EXPECT_EQ(function_name("void visit(void (*each)(int), int n)"), "visit");
}

TEST(Names, RejectsAHeaderWithoutParameters) {
  EXPECT_THROW((void)function_name("struct point"), UsageError);
  EXPECT_THROW((void)function_name("void f("), UsageError);
  EXPECT_THROW((void)function_name("(int n)"), UsageError);
}

}  // namespace
}  // namespace op2::cg
