// SPDX-License-Identifier: BSD-3-Clause
#include "api/shared.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../base/message_of.hpp"
#include "../runtime/opencl/devices.hpp"
#include "../runtime/recording_device.hpp"
#include "api/object_states.hpp"
#include "base/error.hpp"
#include "mesh/buffer.hpp"
#include "runtime/cuda/adaptor.hpp"
#include "runtime/opencl/adaptor.hpp"

namespace op2::api {
namespace {

using op2::testing::message_of;

const unsigned char old_code[] = {1, 2};
const unsigned char new_code[] = {3};

const KnownBackends of_loops = {{"abacus", nullptr},
                                {"cuda", &runtime::cuda::device_vendor},
                                {"opencl", &runtime::opencl::device_vendor}};

TEST(SharedState, BackendsAreThoseOfLoops) {
  EXPECT_EQ(
      message_of<UsageError>([] { init({"vulkan"}); }),
      "there is no backend 'vulkan' in this program; there are: abacus, cuda, opencl, openmp, "
      "sequential; if loops are to run there, generate them with --backend vulkan");
  init({"abacus", 2});
  EXPECT_EQ(shared().options.backend, "abacus");
  EXPECT_EQ(shared().mirror, nullptr);
  init({});
}

TEST(SharedState, ProgramsAreLoadedOnceForTheGpuThatThereIs) {
  runtime::DeviceInfo info;
  info.backend = "cuda";
  info.name = "T4";
  info.capability = "sm_86";
  runtime::testing::RecordingDevice device(info);
  const std::vector<Image> images = {{"sm_80", old_code, 2}, {"sm_90", new_code, 1}};
  const auto program = program_on(device, "res", images);
  EXPECT_EQ(device.loaded, (std::vector<std::string>{"\1\2"}));
  EXPECT_EQ(program_on(device, "res", images), program);
  EXPECT_EQ(device.loaded.size(), 1U);
  info.capability = "sm_75";
  runtime::testing::RecordingDevice older(info);
  EXPECT_EQ(message_of<UnsupportedError>([&] { (void)program_on(older, "res", images); }),
            "par_loop 'res': it was compiled for sm_80, sm_90, but 'T4' is sm_75; generate it with "
            "--arch sm_75");
  shared().programs.clear();  // the devices go
}

TEST(SharedState, ADeviceThatIsNotThereChangesNothing) {
  init({"sequential", 3});
  EXPECT_THROW(init({"sequential", -1}), UsageError);
  EXPECT_THROW(init({"cuda", 1, "no such device"}), Error);
  EXPECT_THROW(init({"opencl", 1, "no such device"}), Error);
  EXPECT_EQ(shared().options.backend, "sequential");
  EXPECT_EQ(shared().options.threads, 3);
  EXPECT_EQ(shared().mirror, nullptr);
  EXPECT_NO_THROW(finish());
  init({});
}

/// Values that a device has newer come back for whoever asks, and when the last handle goes.
TEST(SharedState, ValuesComeBackFromADevice) {
  OP2_NEEDS_OPENCL();
  init({"opencl"});
  const auto device = shared().mirror->device();
  const Set cells(3, "cells");
  std::vector<double> values{1.0, 2.0, 3.0};
  const auto write_there = [&device](const Dat<double>& dat, double value) {
    const std::vector<double> newer(3, value);
    void* const there = dat.state()->buffer->on_device(device, mesh::Use::write, {});
    device->upload(there, 0, newer.data(), 24);
  };
  {
    const Dat<double> dat(cells, std::span<double>(values), "dat");
    write_there(dat, 7.0);
    EXPECT_EQ(values[0], 1.0);
    EXPECT_EQ(dat.read()[0], 7.0);
    EXPECT_TRUE(dat.state()->buffer->is_valid_on(*device));
    dat.values()[1] = 8.0;
    EXPECT_FALSE(dat.state()->buffer->is_valid_on(*device));
    write_there(dat, 5.0);
    dat.zero();
    EXPECT_EQ(values[1], 8.0);  // nobody has waited
    EXPECT_EQ(dat.read()[1], 0.0);
    write_there(dat, 9.0);
  }
  EXPECT_EQ(values, (std::vector<double>{9.0, 9.0, 9.0}));
  finish();
  init({});
  shared().mirrors.clear();  // the device goes: other tests look whether its context does
}

TEST(SharedState, ZeroIsWrittenOnTheHostWhereValuesAreThere) {
  const Set cells(2, "cells");
  std::vector<float> values{1.0F, 2.0F};
  const Dat<float> dat(cells, std::span<float>(values), "dat");
  dat.zero();
  EXPECT_EQ(values, (std::vector<float>{0.0F, 0.0F}));
}

}  // namespace
}  // namespace op2::api
