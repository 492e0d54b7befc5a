// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu/context.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "../../base/message_of.hpp"
#include "base/error.hpp"
#include "fake_driver.hpp"

namespace op2::runtime::gpu {
namespace {

using op2::testing::contains;
using op2::testing::message_of;

TEST(GpuContext, GivesBackWhatItTook) {
  const testing::FakeGpu gpu;
  {
    const Context context(gpu.driver(), 0);
    EXPECT_EQ(context.name(), "cuda device 0 (NVIDIA Imagination)");
    EXPECT_EQ(gpu.n_contexts, 1);
    EXPECT_EQ(gpu.n_streams, 1);
    EXPECT_TRUE(gpu.current.empty());
  }
  EXPECT_EQ(gpu.n_contexts, 0);
  EXPECT_EQ(gpu.n_streams, 0);
  EXPECT_TRUE(gpu.current.empty());
}

TEST(GpuContext, AMissingGpuIsTheCallersFault) {
  const testing::FakeGpu gpu;
  const std::string message =
      message_of<UsageError>([&] { const Context context(gpu.driver(), 3); });
  EXPECT_TRUE(contains(message, "no cuda device 3", "0 to 0"));
}

TEST(GpuContext, TheThreadsContextIsRestored) {
  testing::FakeGpu gpu;
  const Context context(gpu.driver(), 0);
  auto* const others = reinterpret_cast<ContextHandle>(0x99);
  gpu.current.push_back(others);
  {
    const Current current(context);
    ASSERT_EQ(gpu.current.size(), 2U);
    EXPECT_NE(gpu.current.back(), others);
    const Current nested(context);  // already current: nothing to do
    EXPECT_EQ(gpu.current.size(), 2U);
  }
  ASSERT_EQ(gpu.current.size(), 1U);
  EXPECT_EQ(gpu.current.back(), others);
  gpu.current.clear();
}

TEST(GpuContext, AForkedChildIsTold) {
  const testing::FakeGpu gpu;
  const Context context(gpu.driver(), 0);
  EXPECT_NO_THROW(context.check_process());
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      context.check_process();
    } catch (const ExecutionError& error) {
      ::_exit(std::string(error.what()).find("'spawn'") != std::string::npos ? 0 : 2);
    }
    ::_exit(1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(GpuContext, FailuresNameTheGpuAndTheDeed) {
  const testing::FakeGpu gpu;
  const Context context(gpu.driver(), 0);
  EXPECT_NO_THROW(context.check(success, "rest"));
  const std::string message =
      message_of<ExecutionError>([&] { context.check(illegal_address, "make a stream"); });
  EXPECT_TRUE(contains(message, "cannot make a stream on cuda device 0 (NVIDIA Imagination)",
                       "CUDA_ERROR_ILLEGAL_ADDRESS"));
}

}  // namespace
}  // namespace op2::runtime::gpu
