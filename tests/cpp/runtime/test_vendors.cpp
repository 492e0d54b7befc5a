// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/vendors.hpp"

#include <gtest/gtest.h>

#include <string>

#include "../base/message_of.hpp"
#include "base/error.hpp"
#include "runtime/hip/adaptor.hpp"

namespace op2::runtime {
namespace {

TEST(Vendors, AreKnownWhileTheyLive) {
  EXPECT_EQ(&vendor_named("hip"), &hip::device_vendor);
  {
    const DeviceVendor mine({.name = "abacus", .fitting = hip::device_vendor.fitting});
    EXPECT_EQ(&vendor_named("abacus"), &mine);
  }
  EXPECT_EQ(
      op2::testing::message_of<ToolchainError>([] { (void)vendor_named("abacus"); }).substr(0, 61),
      "there is no adaptor for devices of 'abacus'; there are: cuda,");
}

TEST(Vendors, SayWhatDevicesLoadOfCodeThatWasCompiledAhead) {
  EXPECT_EQ(vendor_named("cuda").loadable("sm_90", "code"), "code");
  EXPECT_EQ(vendor_named("opencl").loadable("-w", "text"), "op2 known text\n-w\ntext");
}

}  // namespace
}  // namespace op2::runtime
