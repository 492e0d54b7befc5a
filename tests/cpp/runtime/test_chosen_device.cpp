// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/chosen_device.hpp"

#include <gtest/gtest.h>

#include "../base/message_of.hpp"
#include "base/error.hpp"

namespace op2::runtime {
namespace {

const std::vector<DeviceLabel> devices = {{"pthread-Xeon", "Portable Computing Language", true},
                                          {"GeForce", "NVIDIA CUDA"},
                                          {"H200", "NVIDIA CUDA"}};

TEST(ChosenDevice, IsMeantByNumberOrByPartOfItsName) {
  EXPECT_EQ(chosen_device(devices, "", ""), 1);  // no processor
  EXPECT_EQ(chosen_device(devices, "portable", ""), 0);
  EXPECT_EQ(chosen_device(devices, "", "h2"), 2);
  EXPECT_EQ(chosen_device(devices, "", "0"), 0);
  EXPECT_EQ(chosen_device(devices, "nvidia", "2"), 2);
}

TEST(ChosenDevice, OneThatIsNotThereIsRefusedWithAList) {
  EXPECT_EQ(
      op2::testing::message_of<UsageError>([] { (void)chosen_device(devices, "amd", "h200"); }),
      "options 'device' and 'platform': there is no device 'h200' on platform 'amd'; there "
      "are: 0: pthread-Xeon (Portable Computing Language), 1: GeForce (NVIDIA CUDA), 2: H200 "
      "(NVIDIA CUDA)");
  EXPECT_THROW((void)chosen_device(devices, "", "3"), UsageError);
  EXPECT_THROW((void)chosen_device({}, "", ""), UsageError);
}

}  // namespace
}  // namespace op2::runtime
