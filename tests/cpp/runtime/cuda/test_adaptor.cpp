// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/cuda/adaptor.hpp"

#include <gtest/gtest.h>

#include <string>

#include "../../base/message_of.hpp"
#include "base/error.hpp"
#include "jit/nvrtc/compiler.hpp"

namespace op2::runtime::cuda {
namespace {

using op2::testing::contains;
using op2::testing::message_of;

TEST(CudaAdaptor, WithoutADriverTheErrorSaysWhatWasLookedForAndWhatToInstall) {
  const std::string message = message_of<ToolchainError>(
      [] { static_cast<void>(load_driver({"libop2-no-such-driver.so.1"})); });
  EXPECT_TRUE(contains(message, "NVIDIA's driver was not found", "install NVIDIA's driver",
                       "libop2-no-such-driver.so.1"));
}

TEST(CudaAdaptor, AnotherLibraryIsNoDriver) {
  const std::string message =
      message_of<ToolchainError>([] { static_cast<void>(load_driver({"libc.so.6"})); });
  EXPECT_TRUE(contains(message, "libc", "cuInit"));
}

TEST(CudaAdaptor, VersionsAreWrittenAsPeopleDo) {
  EXPECT_EQ(version_text(13000), "13.0");
  EXPECT_EQ(version_text(12040), "12.4");
}

TEST(CudaAdaptor, ArchitecturesHaveTheCompilersNames) {
  EXPECT_EQ(architecture(8, 0), "sm_80");
  EXPECT_EQ(architecture(10, 3), "sm_103");
}

/// With a GPU and its compiler everything works; without, the errors say what is missing.
TEST(CudaAdaptor, ADeviceOrAnErrorThatSaysWhatIsMissing) {
  std::vector<DeviceInfo> devices;
  try {
    devices = device_vendor.list_devices();
  } catch (const ToolchainError& error) {
    EXPECT_TRUE(contains(error.what(), "NVIDIA's driver"));
    EXPECT_THROW(static_cast<void>(device_vendor.open_device(0)), ToolchainError);
    return;
  }
  const auto n_devices = static_cast<int>(devices.size());
  EXPECT_THROW(static_cast<void>(device_vendor.open_device(n_devices)), UsageError);
  const std::shared_ptr<Device> device = device_vendor.open_device(0);
  EXPECT_EQ(device->info().name, devices.front().name);
  const std::string binary = jit::nvrtc::make_compiler(device->info().capability, {})
                                 ->compile(
                                     "extern \"C\" __global__ void fill(double* x, long n) {\n"
                                     "  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;\n"
                                     "  if (i < n) x[i] = 0.5 * i;\n}\n",
                                     {});
  const std::shared_ptr<Program> program = device->load(binary);
  const std::shared_ptr<void> x = device->allocate(800, "Dat 'x'");
  const std::vector<LaunchArgument> arguments = {x.get(), std::int64_t{100}};
  device->launch(program->kernel("fill"), Grid{4, 32}, arguments, "fill");
  std::vector<double> found(100);
  device->download(found.data(), x.get(), 0, 800);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i], 0.5 * static_cast<double>(i));
  }
}

TEST(CudaAdaptor, AFullGpuSaysSoAndGoesOn) {
  std::shared_ptr<Device> device;
  try {
    device = device_vendor.open_device(0);
  } catch (const ToolchainError& error) {
    GTEST_SKIP() << error.what();
  }
  const std::string message = message_of<ExecutionError>(
      [&] { static_cast<void>(device->allocate(std::int64_t{1} << 45, "Dat 'huge'")); });
  EXPECT_TRUE(contains(message, "is full: Dat 'huge' needs 35.2 TB"));
  EXPECT_NO_THROW(static_cast<void>(device->allocate(1000, "Dat 'small'")));
  EXPECT_NO_THROW(device->finish());
}

}  // namespace
}  // namespace op2::runtime::cuda
