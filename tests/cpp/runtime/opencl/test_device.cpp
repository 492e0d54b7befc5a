// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/opencl/device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "base/error.hpp"
#include "runtime/opencl/devices.hpp"
#include "runtime/opencl/known_text.hpp"

namespace op2::runtime::opencl {
namespace {

constexpr const char* source = R"(
__kernel void add(__global double *x, long n, double unused) {}
__kernel void scale(__global double *x, __global const double *by, long n) {
  for (long i = get_global_id(0); i < n; i += get_global_size(0)) x[i] *= by ? by[0] : 2.0;
}
__kernel void ids(__global long *x) {
  x[get_global_id(0)] = get_group_id(0) * 1000 + get_local_id(0);
}
)";

class OpenclDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    OP2_NEEDS_OPENCL();
    device = open_device(0);
    program = device->load(bytes_of({"", source}));
  }

  std::shared_ptr<void> put(const std::vector<double>& values) {
    auto memory = device->allocate(8 * static_cast<std::int64_t>(values.size()), "test");
    device->upload(memory.get(), 0, values.data(), 8 * static_cast<std::int64_t>(values.size()));
    return memory;
  }

  std::shared_ptr<Device> device;
  std::shared_ptr<Program> program;
  std::string loop = "res";
};

TEST_F(OpenclDeviceTest, ListsWhatItOpens) {
  const std::vector<DeviceInfo> all = list_devices();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].name, device->info().name);
  EXPECT_EQ(all[0].backend, "opencl");
  EXPECT_GT(all[0].memory_bytes, 0);
  EXPECT_GT(all[0].max_lanes, 0);
  EXPECT_NE(device->name().find(all[0].name), std::string::npos);
  EXPECT_THROW((void)open_device(static_cast<int>(all.size())), UsageError);
  EXPECT_THROW((void)open_device(-1), UsageError);
}

TEST_F(OpenclDeviceTest, PartsOfMemoryAreTheMemory) {
  auto whole = put(std::vector<double>(1026, 1.0));
  const auto part = device->part_of(whole, 4096, 16);
  const auto by = put({10.0});
  const std::vector<LaunchArgument> arguments{part.get(), by.get(), std::int64_t{2}};
  device->launch(program->kernel("scale"), {1, 4}, arguments, loop);
  std::vector<double> found(1026);
  device->download(found.data(), whole.get(), 0, 8 * 1026);
  EXPECT_EQ(std::count(found.begin(), found.end(), 1.0), 1024);
  EXPECT_EQ(found[512], 10.0);
  EXPECT_EQ(found[513], 10.0);
  whole.reset();  // the part keeps it
  device->download(found.data(), part.get(), 8, 8);
  EXPECT_EQ(found[0], 10.0);
}

TEST_F(OpenclDeviceTest, WhatIsRecordedKeepsItsArguments) {
  const auto x = put({1.0, 2.0, 3.0});
  const auto y = put({1.0, 1.0, 1.0});
  const auto by = put({10.0});
  DeviceKernel& kernel = program->kernel("scale");
  const auto scaled = [&](void* memory, std::int64_t n) {
    const std::vector<LaunchArgument> arguments{memory, by.get(), n};
    device->launch(kernel, {1, 4}, arguments, loop);
  };
  ASSERT_TRUE(device->start_recording());
  EXPECT_FALSE(device->start_recording());
  scaled(x.get(), 1);
  scaled(x.get(), 2);
  device->copy(y.get(), 16, x.get(), 0, 8);
  device->zero(x.get(), 16, 8);
  const std::unique_ptr<Recording> recording = device->stop_recording();
  ASSERT_NE(recording, nullptr);
  std::array<double, 3> found{};
  device->download(found.data(), x.get(), 0, sizeof found);
  EXPECT_EQ(found, (std::array{1.0, 2.0, 3.0}));  // nothing has run
  scaled(y.get(), 3);                             // others use the kernel meanwhile
  device->replay(*recording);
  device->replay(*recording);
  device->download(found.data(), x.get(), 0, sizeof found);
  EXPECT_EQ(found, (std::array{10000.0, 200.0, 0.0}));
  device->download(found.data(), y.get(), 0, sizeof found);
  EXPECT_EQ(found, (std::array{10.0, 10.0, 10000.0}));
}

TEST_F(OpenclDeviceTest, ASpanIsTheDevicesTimeForAllItsLaunches) {
  const auto x = put(std::vector<double>(1 << 20, 1.0));
  DeviceKernel& kernel = program->kernel("scale");
  const std::vector<LaunchArgument> arguments{x.get(), static_cast<void*>(nullptr),
                                              std::int64_t{1 << 20}};
  const auto time_of = [&](int n_launches) {
    std::int64_t least = 0;
    for (int i = 0; i < 3; ++i) {
      const std::unique_ptr<DeviceSpan> span = device->open_span();
      for (int j = 0; j < n_launches; ++j) {
        device->launch(kernel, {8, 4}, arguments, loop, span.get());
      }
      device->close_span(*span);
      device->finish();
      const std::int64_t now = span->measured().value().nanoseconds;
      least = i == 0 ? now : std::min(least, now);
    }
    return least;
  };
  device->start_clock();
  const std::int64_t one = time_of(1);
  EXPECT_GT(one, 0);
  EXPECT_GT(time_of(16), 2 * one);
  device->stop_clock();
  EXPECT_EQ(device->open_span(), nullptr);
}

TEST_F(OpenclDeviceTest, LaunchesFollowUploadsInOrder) {
  const auto x = put({1.0, 2.0, 3.0});
  const auto by = put({10.0});
  DeviceKernel& scale = program->kernel("scale");
  EXPECT_GE(scale.max_lanes(), 1);
  const std::array<LaunchArgument, 3> first = {x.get(), by.get(), std::int64_t{3}};
  device->launch(scale, {2, 1}, first, loop);
  const double hundred = 100.0;
  device->upload(by.get(), 0, &hundred, 8);
  const std::array<LaunchArgument, 3> again = {x.get(), by.get(), std::int64_t{2}};
  device->launch(scale, {1, 4}, again, loop);
  const std::array<LaunchArgument, 3> null = {x.get(), static_cast<void*>(nullptr),
                                              std::int64_t{1}};
  device->launch(scale, {1, 1}, null, loop);
  std::vector<double> found(3);
  device->download(found.data(), x.get(), 0, 24);
  EXPECT_EQ(found, (std::vector<double>{2000.0, 2000.0, 30.0}));
}

TEST_F(OpenclDeviceTest, GridsAreBlocksOfLanes) {
  const auto x = device->allocate(8 * 6, "ids");
  const std::array<LaunchArgument, 1> arguments = {x.get()};
  device->launch(program->kernel("ids"), {3, 2}, arguments, loop);
  std::vector<std::int64_t> found(6);
  device->download(found.data(), x.get(), 0, 48);
  EXPECT_EQ(found, (std::vector<std::int64_t>{0, 1, 1000, 1001, 2000, 2001}));
}

TEST_F(OpenclDeviceTest, CopiesAndZeroes) {
  const auto x = put({1.0, 2.0, 3.0, 4.0});
  const auto y = put({0.0, 0.0, 0.0, 0.0});
  device->copy(y.get(), 8, x.get(), 16, 16);
  device->zero(x.get(), 0, 16);
  std::vector<double> found(4);
  device->download(found.data(), y.get(), 0, 32);
  EXPECT_EQ(found, (std::vector<double>{0.0, 3.0, 4.0, 0.0}));
  device->download(found.data(), x.get(), 8, 24);
  EXPECT_EQ(found, (std::vector<double>{0.0, 3.0, 4.0, 0.0}));
}

TEST_F(OpenclDeviceTest, NumbersTravelWithCommands) {
  const std::array<double, 2> number = {1.5, -2.25};
  const auto x = put({0.0, 0.0, 3.0});
  device->set(x.get(), std::as_bytes(std::span(number)));
  std::vector<double> found(3);
  device->download(found.data(), x.get(), 0, 24);
  EXPECT_EQ(found, (std::vector<double>{1.5, -2.25, 3.0}));
}

TEST_F(OpenclDeviceTest, LargeUploadsAndPartsOfThem) {
  std::vector<double> values(1 << 16);
  std::iota(values.begin(), values.end(), 0.0);
  const auto x = put(values);
  values.assign(values.size(), -1.0);
  device->download(values.data(), x.get(), 8 * 1000, 8 * 10);
  EXPECT_EQ(values[0], 1000.0);
  EXPECT_EQ(values[9], 1009.0);
  EXPECT_EQ(values[10], -1.0);
}

TEST_F(OpenclDeviceTest, NothingIsNothing) {
  const auto x = device->allocate(0, "empty");
  EXPECT_NE(x.get(), nullptr);
  device->upload(x.get(), 0, nullptr, 0);
  device->zero(x.get(), 0, 0);
  device->copy(x.get(), 0, x.get(), 0, 0);
  device->download(nullptr, x.get(), 0, 0);
}

TEST_F(OpenclDeviceTest, ManyLaunchesWithoutAWait) {
  const auto x = put({3.0, 3.0});
  const auto by = put({2.0});
  const std::array<LaunchArgument, 3> arguments = {x.get(), by.get(), std::int64_t{1}};
  for (int i = 0; i < 1000; ++i) {
    device->launch(program->kernel("scale"), {1, 1}, arguments, loop);
  }
  device->finish();
  std::array<double, 2> found{};
  device->download(found.data(), x.get(), 0, sizeof found);
  EXPECT_EQ(found, (std::array{std::ldexp(3.0, 1000), 3.0}));
}

TEST_F(OpenclDeviceTest, RefusedLaunchesNameTheLoop) {
  const auto x = put({1.0});
  DeviceKernel& ids = program->kernel("ids");
  const std::array<LaunchArgument, 1> arguments = {x.get()};
  try {
    device->launch(ids, {1, ids.max_lanes() * 2}, arguments, loop);
    FAIL() << "a block larger than the device's";
  } catch (const ExecutionError& error) {
    EXPECT_NE(std::string(error.what()).find("par_loop 'res'"), std::string::npos) << error.what();
  }
  device->finish();
}

TEST_F(OpenclDeviceTest, WrongArgumentsAreOurFault) {
  EXPECT_THROW((void)program->kernel("nobody"), InternalError);
  const std::array<LaunchArgument, 4> many = {nullptr, nullptr, std::int64_t{1}, std::int64_t{1}};
  EXPECT_THROW(device->launch(program->kernel("scale"), {1, 1}, many, loop), InternalError);
}

TEST_F(OpenclDeviceTest, AFullDeviceNamesWhoseMemoryItWas) {
  const std::int64_t n_bytes = device->info().memory_bytes + 1;
  try {
    (void)device->allocate(n_bytes, "Dat 'q'");
    FAIL() << "more than there is";
  } catch (const ExecutionError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("Dat 'q' of ")) << error.what();
  }
}

TEST_F(OpenclDeviceTest, MemoryAndProgramsOutliveTheDevice) {
  auto x = put({1.0});
  device.reset();
  EXPECT_NO_THROW((void)program->kernel("ids"));
  program.reset();
  x.reset();
}

TEST_F(OpenclDeviceTest, BrokenBinariesAreRefused) {
  EXPECT_THROW((void)device->load("no binary"), Error);
}

}  // namespace
}  // namespace op2::runtime::opencl
