// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/nvtx.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

namespace op2::runtime {
namespace {

// A tool comes with the process: tests/python/test_profile.py has one that watches. Here there is
// none, or a library that is none, so no function of one may be called.

/// In a process of its own, because the tool is looked for once.
void expect_ranges_without_a_tool(const char* path) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        if (path == nullptr) ::unsetenv("NVTX_INJECTION64_PATH");
        if (path != nullptr) ::setenv("NVTX_INJECTION64_PATH", path, 1);
        {
          const NamedRange outer("outer");
          const NamedRange inner("inner");
        }
        ::_exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST(Nvtx, NobodyWatches) {
  expect_ranges_without_a_tool(nullptr);
}

TEST(Nvtx, AToolThatIsMissingIsNone) {
  expect_ranges_without_a_tool("/nowhere/tool.so");
}

TEST(Nvtx, ALibraryWithoutTheToolsFunctionIsNone) {
  expect_ranges_without_a_tool("libm.so.6");
}

}  // namespace
}  // namespace op2::runtime
