// SPDX-License-Identifier: BSD-3-Clause
#include "jit/hiprtc/compiler.hpp"

#include <gtest/gtest.h>

#include <string>

#include "../../base/message_of.hpp"
#include "base/error.hpp"

namespace op2::jit::hiprtc {
namespace {

using op2::testing::contains;
using op2::testing::message_of;

TEST(HiprtcCompiler, SaysWhatWasLookedFor) {
  const std::string message = message_of<ToolchainError>(
      [] { static_cast<void>(load_library({"/dev/null/nowhere/libhiprtc.so"})); });
  EXPECT_TRUE(contains(message, "hipRTC", "/dev/null/nowhere/libhiprtc.so", "libamdhip64-5"));
}

TEST(HiprtcCompiler, IsKnownByLibraryAndDevice) {
  gpu::Library library;
  library.major = 5;
  library.path = "/opt/lib";
  const Compiler one(library, "gfx90a");
  EXPECT_NE(one.identity(), Compiler(library, "gfx942").identity());
  EXPECT_TRUE(contains(one.identity(), "hiprtc", "/opt/lib", "gfx90a"));
  EXPECT_EQ(one.suffix(), ".hip");
}

}  // namespace
}  // namespace op2::jit::hiprtc
