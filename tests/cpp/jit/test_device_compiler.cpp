// SPDX-License-Identifier: BSD-3-Clause
#include "jit/device_compiler.hpp"

#include <gtest/gtest.h>

#include <string>

namespace op2::jit {
namespace {

TEST(DeviceCompiler, ErrorsSayWhoWasToldWhatAndWhatItSays) {
  const CompilationError one = rejected("NVRTC", "nvrtc -x", "line 1: bad");
  EXPECT_EQ(std::string(one.what()),
            "NVRTC rejected a generated source\n  command: nvrtc -x\nline 1: bad");
  EXPECT_EQ(one.command(), "nvrtc -x");
  EXPECT_EQ(one.stderr_text(), "line 1: bad");
  EXPECT_EQ(one.source_path(), "");
  const ToolchainError other = broke("NVRTC 12.4", "out of memory", "nvrtc -x", "line 1");
  EXPECT_EQ(std::string(other.what()),
            "NVRTC 12.4 failed (out of memory)\n  command: nvrtc -x\nline 1");
}

}  // namespace
}  // namespace op2::jit
