// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/copy_rate.hpp"

#include <gtest/gtest.h>

#include "gpu/fake_driver.hpp"
#include "runtime/gpu/device.hpp"

namespace op2::runtime {
namespace {

TEST(CopyRate, CopiesAreMadeAndMemoryIsGivenBack) {
  const gpu::testing::FakeGpu fake;
  gpu::Gpu gpu(fake.driver(), 0);
  const double rate = measure_copy_rate(gpu, 400000, 10);
  EXPECT_GT(rate, 1e6);
  EXPECT_LT(rate, 1e15);
  EXPECT_EQ(fake.n_used, 0U);
  EXPECT_EQ(fake.n_waits, 4);
}

}  // namespace
}  // namespace op2::runtime
