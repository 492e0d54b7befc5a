// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/cuda/api.hpp"

#include <gtest/gtest.h>

#include "../../base/message_of.hpp"
#include "base/error.hpp"
#include "fake_driver.hpp"

namespace op2::runtime::cuda {
namespace {

using op2::testing::contains;
using op2::testing::message_of;

TEST(CudaApi, WithoutADriverTheErrorSaysWhatWasLookedForAndWhatToInstall) {
  const std::string message = message_of<ToolchainError>(
      [] { static_cast<void>(load_driver({"libop2-no-such-driver.so.1"})); });
  EXPECT_TRUE(contains(message, "NVIDIA's driver was not found", "install NVIDIA's driver",
                       "libop2-no-such-driver.so.1"));
}

TEST(CudaApi, AnotherLibraryIsNoDriver) {
  const std::string message =
      message_of<ToolchainError>([] { static_cast<void>(load_driver({"libc.so.6"})); });
  EXPECT_TRUE(contains(message, "libc", "cuInit"));
}

TEST(CudaApi, VersionsAreWrittenAsPeopleDo) {
  EXPECT_EQ(version_text(13000), "13.0");
  EXPECT_EQ(version_text(12040), "12.4");
}

TEST(CudaApi, ErrorsHaveTheDriversNameAndWords) {
  const testing::FakeGpu gpu;
  EXPECT_EQ(describe(*gpu.driver(), illegal_address),
            "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered");
}

}  // namespace
}  // namespace op2::runtime::cuda
