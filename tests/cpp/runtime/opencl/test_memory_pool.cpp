// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/opencl/memory_pool.hpp"

#include <gtest/gtest.h>

#include "../../base/message_of.hpp"
#include "base/error.hpp"

namespace op2::runtime::opencl {
namespace {

using code::allocation_failure;
using code::success;
using ::op2::testing::message_of;

/// A vendor that counts instead of giving memory; it has `n_left` pieces.
struct Vendor {
  int n_made = 0;
  int n_released = 0;
  int n_left = 1000;
};

Vendor& vendor() {
  static Vendor instance;
  return instance;
}

class MemoryPoolTest : public ::testing::Test {
 protected:
  MemoryPoolTest() {
    vendor() = {};
    api->create_context = [](const std::intptr_t*, Count, const DeviceId*,
                             void (*)(const char*, const void*, std::size_t, void*), void*,
                             Status* status) {
      *status = success;
      return reinterpret_cast<Context>(std::intptr_t{1});
    };
    api->release_context = [](Context) { return success; };
    api->create_buffer = [](Context, Flags, std::size_t, void*, Status* status) {
      const bool is_full = vendor().n_made - vendor().n_released >= vendor().n_left;
      *status = is_full ? allocation_failure : success;
      if (!is_full) ++vendor().n_made;
      return is_full ? nullptr
                     : reinterpret_cast<Memory>(static_cast<std::intptr_t>(vendor().n_made));
    };
    api->release_memory = [](Memory) {
      ++vendor().n_released;
      return success;
    };
    pool = std::make_shared<MemoryPool>(api, std::make_shared<DeviceContext>(api, FoundDevice{}),
                                        MemoryLimits{100 << 20, 90 << 20}, "device 'toy'");
  }
  std::shared_ptr<Api> api = std::make_shared<Api>();
  std::shared_ptr<MemoryPool> pool;
};

TEST_F(MemoryPoolTest, ReusesWhatWasDropped) {
  auto first = pool->allocate(1000, "a");
  void* where = first.get();
  EXPECT_GE(pool->used_bytes(), 1000);
  first.reset();
  EXPECT_EQ(pool->used_bytes(), 0);
  EXPECT_EQ(pool->allocate(900, "b").get(), where);  // the same class of sizes
  EXPECT_EQ(vendor().n_made, 1);
  EXPECT_NE(pool->allocate(5000, "c").get(), nullptr);
  EXPECT_EQ(vendor().n_made, 2);
}

TEST_F(MemoryPoolTest, KeepsLittleIdle) {
  std::vector<std::shared_ptr<void>> pieces;
  for (int i = 0; i < 30; ++i) pieces.push_back(pool->allocate(2 << 20, "a"));
  pieces.clear();
  EXPECT_LE(pool->idle_bytes(), (100 << 20) / 8);
  EXPECT_GT(pool->idle_bytes(), 0);
  EXPECT_GT(vendor().n_released, 0);
}

TEST_F(MemoryPoolTest, GivesIdleMemoryUpBeforeItFails) {
  auto small = pool->allocate(1 << 20, "a");
  small.reset();
  vendor().n_left = 1;
  const auto other = pool->allocate(4 << 20, "b");  // another class: the idle piece must go
  EXPECT_NE(other.get(), nullptr);
  EXPECT_EQ(vendor().n_released, 1);
  EXPECT_THROW((void)pool->allocate(8 << 20, "c"), ExecutionError);
}

TEST_F(MemoryPoolTest, SaysWhoseMemoryDoesNotFit) {
  const auto used = pool->allocate(30 << 20, "a");
  EXPECT_EQ(message_of<ExecutionError>([&] { (void)pool->allocate(80 << 20, "Dat 'q'"); }),
            "Dat 'q' of 80.0 MiB does not fit onto device 'toy': of 100.0 MiB, this program uses "
            "30.0; use smaller data, drop what is no longer needed, or choose another device");
}

TEST_F(MemoryPoolTest, GivesNoMoreThanAllowed) {
  pool->limit(40 << 20);
  const auto used = pool->allocate(30 << 20, "a");
  EXPECT_EQ(message_of<OutOfMemoryError>([&] { (void)pool->allocate(20 << 20, "Dat 'q'"); }),
            "Dat 'q' of 20.0 MiB does not fit onto device 'toy': of 40.0 MiB that "
            "init(device_memory=) allows, this program uses 30.0; use smaller data, drop what is "
            "no longer needed, or choose another device");
  pool->limit(0);
  EXPECT_NO_THROW((void)pool->allocate(12 << 20, "Dat 'q'"));  // stays idle
  pool->limit(41 << 20);
  EXPECT_LE(pool->idle_bytes(), 11 << 20);
  EXPECT_THROW((void)pool->allocate(12 << 20, "Dat 'q'"), OutOfMemoryError);
}

TEST_F(MemoryPoolTest, NamesTheLargestBufferWhereThatIsTheLimit) {
  EXPECT_EQ(message_of<ExecutionError>([&] { (void)pool->allocate(95 << 20, "Dat 'q'"); }),
            "Dat 'q' of 95.0 MiB does not fit onto device 'toy': its largest single buffer is 90.0 "
            "MiB, of 100.0 in all; use smaller data, or choose another device");
  EXPECT_EQ(vendor().n_made, 0);
}

TEST_F(MemoryPoolTest, SaysWhereOtherProgramsMayHaveTheMemory) {
  vendor().n_left = 0;
  EXPECT_EQ(
      message_of<ExecutionError>([&] { (void)pool->allocate(8 << 20, "Dat 'q'"); }),
      "Dat 'q' of 8.0 MiB does not fit onto device 'toy': its driver gives no more, though of "
      "100.0 MiB this program uses 0.0 only; other programs may use the rest: try again, use "
      "smaller data, or choose another device");
}

TEST_F(MemoryPoolTest, PiecesOutliveThePool) {
  auto piece = pool->allocate(10, "a");
  pool.reset();
  EXPECT_EQ(vendor().n_released, 0);
  piece.reset();
  EXPECT_EQ(vendor().n_released, 1);
}

}  // namespace
}  // namespace op2::runtime::opencl
