// SPDX-License-Identifier: BSD-3-Clause
#include "jit/nvrtc/compiler.hpp"

#include <gtest/gtest.h>

#include "../../base/message_of.hpp"
#include "base/error.hpp"
#include "jit/nvrtc/api.hpp"

namespace op2::jit::nvrtc {
namespace {

using gpu::Library;
using op2::testing::contains;
using op2::testing::message_of;

const char* const source = R"(
static double half(double x) { return 0.5 * x; }
extern "C" __global__ void scale(double* x, long n) {
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n;
       i += (long)gridDim.x * blockDim.x)
    x[i] = half(x[i]);
}
)";

/// NVRTC comes with the package nvidia-cuda-nvrtc, where only Python looks, or with the toolkit.
class NvrtcCompiler : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      library_ = std::make_shared<const Library>(load_library(candidates({})));
    } catch (const ToolchainError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  std::shared_ptr<const Library> library_;
};

TEST_F(NvrtcCompiler, MakesMachineCodeWithoutAGpu) {
  Compiler compiler(library_, "sm_90");
  const std::string binary = compiler.compile(source, {});
  EXPECT_EQ(binary.substr(0, 4),
            "\x7f"
            "ELF");
  EXPECT_NE(binary.find("scale"), std::string::npos);
  EXPECT_EQ(compiler.target(), "sm_90");
  EXPECT_EQ(compiler.suffix(), ".cu");
}

TEST_F(NvrtcCompiler, AGpuNewerThanItselfGetsPtx) {
  Compiler compiler(library_, "sm_990");
  EXPECT_EQ(compiler.target(), "compute_" + std::to_string(library_->architectures.back()));
  EXPECT_TRUE(contains(compiler.compile(source, {}), ".entry scale"));
}

TEST_F(NvrtcCompiler, AProgramWhoseSignsItMightLoseIsLeftToTheDriver) {
  const char* const extrema = R"(
extern "C" __global__ void largest(int* x, const int* y, const int* z) {
  const int i = threadIdx.x, negated = -y[i], first = x[i] > negated ? x[i] : negated;
  x[i] = z[i] > first ? z[i] : first;
}
)";
  const std::string made = Compiler(library_, "sm_90").compile(extrema, {});
  if (std::pair(library_->major, library_->minor) < std::pair(13, 4)) {
    EXPECT_TRUE(contains(made, ".entry largest", "not.b32", "max.s32"));
    EXPECT_FALSE(contains(made, "neg.s32"));
  } else {
    EXPECT_EQ(made.substr(1, 3), "ELF");
  }
  EXPECT_EQ(Compiler(library_, "sm_80").compile(extrema, {}).substr(1, 3), "ELF");
  const std::string narrowed = Compiler(library_, "sm_80")
                                   .compile(R"(
extern "C" __global__ void kept(unsigned short* x, const int* y) {
  x[0] = (unsigned short)(signed char)-y[0];
}
)",
                                            {});
  if (std::pair(library_->major, library_->minor) < std::pair(13, 4)) {
    EXPECT_TRUE(contains(narrowed, ".entry kept", "not.b16"));
    EXPECT_FALSE(contains(narrowed, "neg.s16"));
  }
}

TEST_F(NvrtcCompiler, AGpuTooOldForItNeedsAnOlderOne) {
  const std::string message =
      message_of<ToolchainError>([&] { const Compiler compiler(library_, "sm_35"); });
  EXPECT_TRUE(contains(message, "the GPU is sm_35", "install an older NVRTC"));
  EXPECT_THROW(Compiler(library_, "gfx90a"), UsageError);
}

TEST_F(NvrtcCompiler, ARejectedSourceShowsTheLineAndTheCommand) {
  Compiler compiler(library_, "sm_80");
  const std::string broken = "#line 7 \"<kernel scale>\"\nstatic int f() { return unknown; }\n";
  try {
    static_cast<void>(compiler.compile(broken, {"-fmad=false"}));
    FAIL() << "nothing was thrown";
  } catch (const CompilationError& error) {
    EXPECT_TRUE(contains(error.stderr_text(), "<kernel scale>(7): error", "\"unknown\""));
    EXPECT_TRUE(contains(error.command(), "-arch=sm_80", "-fmad=false"));
    EXPECT_EQ(error.source_path(), "");
  }
}

TEST_F(NvrtcCompiler, AnUnknownOptionIsNoVerdictOnTheSource) {
  Compiler compiler(library_, "sm_90");
  const std::string message = message_of<ToolchainError>(
      [&] { static_cast<void>(compiler.compile(source, {"--no-such-option"})); });
  EXPECT_TRUE(contains(message, "--no-such-option"));
}

TEST_F(NvrtcCompiler, TheIdentityTellsArchitecturesApart) {
  EXPECT_EQ(Compiler(library_, "sm_90").identity(), Compiler(library_, "sm_90").identity());
  EXPECT_NE(Compiler(library_, "sm_90").identity(), Compiler(library_, "sm_80").identity());
}

TEST(NvrtcMakeCompiler, NeedsNoGpu) {
  try {
    EXPECT_EQ(make_compiler("sm_90", {})->suffix(), ".cu");
  } catch (const ToolchainError& error) {
    EXPECT_TRUE(op2::testing::contains(error.what(), "NVRTC"));
  }
  EXPECT_THROW(static_cast<void>(make_compiler("sm_9", {"/dev/null/nowhere"})), ToolchainError);
}

}  // namespace
}  // namespace op2::jit::nvrtc
