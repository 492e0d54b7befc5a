// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/opencl/api.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "runtime/opencl/devices.hpp"

namespace op2::runtime::opencl {
namespace {

TEST(OpenclApi, StatusesHaveTheirNames) {
  EXPECT_EQ(status_name(code::out_of_resources), "CL_OUT_OF_RESOURCES");
  EXPECT_EQ(status_name(-9999), "OpenCL error -9999");
  EXPECT_NO_THROW(check(code::success, "clFinish"));
  EXPECT_THROW(check(code::out_of_resources, "clFinish"), ExecutionError);
}

Status count_release(int* n) {
  ++*n;
  return code::success;
}

TEST(OpenclApi, OwnedReleasesOnce) {
  int n = 0;
  {
    Owned<int*> first(&n, count_release);
    Owned<int*> second(std::move(first));
    Owned<int*> third;
    third = std::move(second);
    EXPECT_EQ(third.get(), &n);
    EXPECT_EQ(n, 0);
  }
  EXPECT_EQ(n, 1);
}

TEST(OpenclApi, DevicesSayWhoTheyAre) {
  OP2_NEEDS_OPENCL();
  const auto api = load_api();
  const std::vector<FoundDevice> devices = find_devices(*api);
  ASSERT_FALSE(devices.empty());
  EXPECT_FALSE(text_of(*api, devices[0].id, query::device_name).empty());
  EXPECT_TRUE(text_of(*api, devices[0].id, query::c_version).starts_with("OpenCL C "));
  EXPECT_FALSE(text_of(*api, devices[0].platform, query::platform_name).empty());
}

}  // namespace
}  // namespace op2::runtime::opencl
