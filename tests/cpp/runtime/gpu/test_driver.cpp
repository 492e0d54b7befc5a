// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu/driver.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "../../base/message_of.hpp"
#include "base/error.hpp"
#include "fake_driver.hpp"

namespace op2::runtime::gpu {
namespace {

TEST(GpuDriver, OneThatDoesNotStartSaysWhatToLookAt) {
  const testing::FakeGpu gpu;
  Driver driver = *gpu.driver();
  driver.path = "libdriver.so";
  driver.init = [](unsigned) { return no_device; };
  const std::string message = op2::testing::message_of<ToolchainError>([&] { start(driver); });
  EXPECT_TRUE(op2::testing::contains(message, "NVIDIA's driver at libdriver.so finds no GPU",
                                     "see what nvidia-smi says"));
  driver.init = [](unsigned) { return success; };
  EXPECT_NO_THROW(start(driver));
}

TEST(GpuDriver, OneThatDidNotStartIsNotAskedAgain) {
  static int n_calls;
  n_calls = 0;
  const testing::FakeGpu gpu;
  Driver driver = *gpu.driver();
  driver.init = [](unsigned) -> Result { return ++n_calls == 1 ? no_device : success; };
  std::vector<std::string> told(8);
  std::vector<std::thread> threads;
  for (std::string& message : told) {
    threads.emplace_back([&driver, &message] {
      message = op2::testing::message_of<ToolchainError>([&] { start(driver); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(n_calls, 1);
  for (const std::string& message : told) {
    EXPECT_TRUE(op2::testing::contains(message, "finds no GPU"));
  }
}

TEST(GpuDriver, ErrorsHaveTheDriversNameAndWords) {
  const testing::FakeGpu gpu;
  EXPECT_EQ(describe(*gpu.driver(), illegal_address),
            "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered");
}

}  // namespace
}  // namespace op2::runtime::gpu
