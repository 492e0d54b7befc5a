// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/opencl/adaptor.hpp"

#include <gtest/gtest.h>

namespace op2::runtime::opencl {
namespace {

TEST(OpenclAdaptor, OneTextServesAllDevices) {
  EXPECT_EQ(device_vendor.fitting("OpenCL C 1.2", {"-cl-std=CL1.2"}), 0U);
  EXPECT_FALSE(device_vendor.fitting("OpenCL C 1.2", {}));
}

}  // namespace
}  // namespace op2::runtime::opencl
