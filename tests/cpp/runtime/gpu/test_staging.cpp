// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu/staging.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "fake_driver.hpp"

namespace op2::runtime::gpu {
namespace {

std::vector<std::int32_t> numbers(std::size_t n) {
  std::vector<std::int32_t> values(n);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

DeviceAddress address_of(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory);
}

/// Sizes below, of and above a chunk and of all chunks, whole and not.
class GpuStaging : public ::testing::TestWithParam<std::size_t> {};

TEST_P(GpuStaging, EveryByteArrivesBothWays) {
  const testing::FakeGpu fake;
  {
    const auto context = std::make_shared<Context>(fake.driver(), 0);
    Staging staging(context);
    const Current current(*context);
    const std::vector<std::int32_t> values = numbers(GetParam());
    std::vector<std::int32_t> there(values.size());
    std::vector<std::int32_t> back(values.size());
    const std::size_t n_bytes = values.size() * 4;
    EXPECT_EQ(staging.upload(address_of(there.data()), values.data(), n_bytes), success);
    EXPECT_EQ(there, values);
    EXPECT_EQ(staging.download(back.data(), address_of(there.data()), n_bytes), success);
    EXPECT_EQ(back, values);
    EXPECT_GT(fake.n_host_blocks, 0);
  }
  EXPECT_EQ(fake.n_host_blocks, 0);
  EXPECT_EQ(fake.n_events, 0);
}

INSTANTIATE_TEST_SUITE_P(Sizes, GpuStaging,
                         ::testing::Values(1, (4U << 20) - 1, 4U << 20, (4U << 20) + 3,
                                           3 * (4U << 20), 5 * (4U << 20) + 7));

TEST(GpuStagingFaults, AreHandedOn) {
  testing::FakeGpu fake;
  const auto context = std::make_shared<Context>(fake.driver(), 0);
  Staging staging(context);
  const Current current(*context);
  fake.pending_fault = illegal_address;
  std::vector<std::int32_t> values = numbers(10);
  std::vector<std::int32_t> there(10);
  EXPECT_EQ(staging.upload(address_of(there.data()), values.data(), 40), illegal_address);
  EXPECT_EQ(staging.download(values.data(), address_of(there.data()), 40), illegal_address);
  fake.pending_fault = success;
}

}  // namespace
}  // namespace op2::runtime::gpu
