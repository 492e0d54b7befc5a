// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu/devices.hpp"

#include <gtest/gtest.h>

#include "../../base/message_of.hpp"
#include "fake_driver.hpp"

namespace op2::runtime::gpu {
namespace {

TEST(GpuDevices, EachGpuIsDescribed) {
  testing::FakeGpu gpu;
  gpu.n_devices = 2;
  const std::vector<DeviceInfo> devices = list_devices(*gpu.driver());
  ASSERT_EQ(devices.size(), 2U);
  const DeviceInfo& info = devices[1];
  EXPECT_EQ(info.backend, "cuda");
  EXPECT_EQ(info.name, "NVIDIA Imagination");
  EXPECT_EQ(info.capability, "sm_90");
  EXPECT_TRUE(op2::testing::contains(info.driver, "CUDA 13.0"));
  EXPECT_EQ(info.memory_bytes, 1000000);
  EXPECT_EQ(info.shared_bytes, 232448);
  EXPECT_EQ(info.n_units, 132);
  EXPECT_EQ(info.max_lanes, 1024);
  EXPECT_EQ(info.warp, 32);
  EXPECT_TRUE(info.float64);
  EXPECT_FALSE(info.is_cpu);
}

TEST(GpuDevices, NoneIsAnEmptyList) {
  testing::FakeGpu gpu;
  gpu.n_devices = 0;
  EXPECT_TRUE(list_devices(*gpu.driver()).empty());
}

TEST(GpuDevices, WithoutRequestsABlockHasTheMemoryOfAll) {
  const testing::FakeGpu gpu;
  Driver driver = *gpu.driver();
  driver.func_set_attribute = nullptr;
  EXPECT_EQ(list_devices(driver).front().shared_bytes, 49152);
}

}  // namespace
}  // namespace op2::runtime::gpu
