// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/guard.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "base/error.hpp"
#include "mesh/host_device.hpp"

namespace op2::mesh {
namespace {

class GuardTest : public ::testing::Test {
 protected:
  void SetUp() override { buffer.reset(values.data(), sizeof values); }

  std::byte* on_device() {
    return static_cast<std::byte*>(buffer.on_device(device, Use::read_write, {"loop"}));
  }

  std::shared_ptr<HostDevice> device = std::make_shared<HostDevice>();
  std::array<double, 6> values{1, 2, 3, 4, 5, 6};
  Buffer buffer{std::make_shared<Coherence>(), "Dat 'q'", Layout{true, 2, 8}};
};

TEST_F(GuardTest, LeavesTheValuesAndSeesNothing) {
  const Guard guard(buffer, device);
  EXPECT_EQ(buffer.where(), Where::host);
  auto* const inside = reinterpret_cast<double*>(on_device());
  EXPECT_EQ(inside[1], 3.0);  // in columns, as of any Buffer
  inside[1] = 30;
  EXPECT_EQ(guard.n_changed(), 0);
  buffer.on_host(Use::read, {"test"});
  EXPECT_EQ(values, (std::array{1.0, 2.0, 30.0, 4.0, 5.0, 6.0}));
}

TEST_F(GuardTest, SeesBytesBeforeAndBehind) {
  const Guard guard(buffer, device);
  std::byte* const inside = on_device();
  inside[-1] = std::byte{0};
  EXPECT_EQ(guard.n_changed(), 1);
  inside[-Guard::n_bytes] = std::byte{1};
  inside[sizeof values] = std::byte{2};
  inside[static_cast<std::int64_t>(sizeof values) + Guard::n_bytes - 1] = std::byte{3};
  EXPECT_EQ(guard.n_changed(), 4);
  inside[-1] = std::byte{0xA5};
  EXPECT_EQ(guard.n_changed(), 3);
}

TEST_F(GuardTest, OfNothingAndOnAFullDevice) {
  Buffer nothing(std::make_shared<Coherence>(), "Dat 'none'", Layout{});
  nothing.reset(nullptr, 0);
  EXPECT_EQ(Guard(nothing, device).n_changed(), 0);
  device->free_bytes = 2 * Guard::n_bytes;
  EXPECT_THROW(Guard(buffer, device), OutOfMemoryError);
  EXPECT_EQ(buffer.where(), Where::host);
}

TEST_F(GuardTest, PartsKeepTheWholeAlive) {
  std::shared_ptr<void> whole = device->allocate(Guard::n_bytes + 8, "test");
  const std::shared_ptr<void> part = device->part_of(whole, Guard::n_bytes, 8);
  EXPECT_EQ(static_cast<std::byte*>(part.get()) - static_cast<std::byte*>(whole.get()),
            Guard::n_bytes);
  whole.reset();
  *static_cast<double*>(part.get()) = 1.0;
}

}  // namespace
}  // namespace op2::mesh
