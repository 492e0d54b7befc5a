// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu/program.hpp"

#include <gtest/gtest.h>

#include "../../base/message_of.hpp"
#include "base/error.hpp"
#include "fake_driver.hpp"

namespace op2::runtime::gpu {
namespace {

using op2::testing::contains;
using op2::testing::message_of;

TEST(GpuProgram, FindsItsKernelsAndUnloadsWhenDone) {
  testing::FakeGpu gpu;
  const auto context = std::make_shared<Context>(gpu.driver(), 0);
  {
    LoadedProgram program(context, "loop_res loop_combine");
    EXPECT_EQ(gpu.n_modules, 1);
    DeviceKernel& kernel = program.kernel("loop_res");
    EXPECT_EQ(kernel.max_lanes(), 768);
    EXPECT_EQ(&program.kernel("loop_res"), &kernel);
    const std::string message =
        message_of<InternalError>([&] { static_cast<void>(program.kernel("loop_other")); });
    EXPECT_TRUE(contains(message, "no kernel 'loop_other'"));
  }
  EXPECT_EQ(gpu.n_modules, 0);
  EXPECT_EQ(gpu.n_waits, 1);
}

TEST(GpuProgram, CodeThatTheDriverIsTooOldForSaysWhatToInstall) {
  testing::FakeGpu gpu;
  const auto context = std::make_shared<Context>(gpu.driver(), 0);
  gpu.refuses_programs = no_binary_for_gpu;
  const std::string message =
      message_of<ToolchainError>([&] { const LoadedProgram program(context, "loop_res"); });
  EXPECT_TRUE(contains(message, "newer than the driver", "CUDA 13.0", "nvidia-cuda-nvrtc==13.0.*"));
  gpu.version = 12020;
  gpu.refuses_programs = unsupported_ptx_version;
  const std::string older =
      message_of<ToolchainError>([&] { const LoadedProgram program(context, "loop_res"); });
  EXPECT_TRUE(
      contains(older, "newer than the driver", "CUDA 12.2", "nvidia-cuda-nvrtc-cu12==12.2.*"));
}

}  // namespace
}  // namespace op2::runtime::gpu
