// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/hip/adaptor.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "../../base/message_of.hpp"
#include "base/error.hpp"

namespace op2::runtime::hip {
namespace {

using op2::testing::contains;
using op2::testing::message_of;

TEST(HipAdaptor, SaysWhatWasLookedForAndWhatToInstall) {
  const std::string message = message_of<ToolchainError>(
      [] { static_cast<void>(load_driver({"/dev/null/nowhere/libamdhip64.so"})); });
  EXPECT_TRUE(
      contains(message, "AMD's HIP run-time was not found", "/dev/null/nowhere/libamdhip64.so"));
  EXPECT_TRUE(contains(message, "apt-get install libamdhip64-5"));
}

TEST(HipAdaptor, ALibraryWithoutItsFunctionsIsNotTaken) {
  const std::string message =
      message_of<ToolchainError>([] { static_cast<void>(load_driver({"libm.so.6"})); });
  EXPECT_TRUE(contains(message, "hipInit"));
}

TEST(HipAdaptor, VersionsAreReadable) {
  EXPECT_EQ(version_text(50221153), "5.2.21153");
  EXPECT_EQ(version_text(60140092), "6.1.40092");
}

TEST(HipAdaptor, EveryAttributeHasANumberOfItsOwn) {
  std::set<int> numbers;
  for (const gpu::DeviceAttribute one :
       {gpu::max_threads_per_block, gpu::max_shared_memory_per_block, gpu::warp_size,
        gpu::multiprocessor_count, gpu::compute_capability_major, gpu::compute_capability_minor,
        gpu::memory_pools_supported}) {
    EXPECT_TRUE(numbers.insert(attribute_number(one)).second);
  }
}

TEST(HipAdaptor, MemoryThatNobodyRegisteredIsNoHostMemoryOfTheDriver) {
  constexpr int rocm_5 = 50221153;
  constexpr int rocm_6 = 60140092;
  EXPECT_EQ(memory_type(0, rocm_5), 1U);  // the host's
  EXPECT_EQ(memory_type(1, rocm_5), 2U);  // the device's
  EXPECT_EQ(memory_type(0, rocm_6), 0U);  // nobody's
  EXPECT_EQ(memory_type(1, rocm_6), 1U);
  EXPECT_EQ(memory_type(2, rocm_6), 2U);
}

TEST(HipAdaptor, TheArchitectureIsFoundWhereverItIs) {
  const std::string name = "gfx, a name";
  const std::string architecture = "gfx90a:sramecc+:xnack-";
  for (const std::size_t at : {256, 396, 1160}) {
    std::string properties(2048, '\0');
    properties.replace(0, name.size(), name);
    properties.replace(at, architecture.size(), architecture);
    EXPECT_EQ(architecture_in(properties), architecture);
  }
  EXPECT_EQ(architecture_in(std::string(100, 'x')), "");
  EXPECT_EQ(architecture_in(std::string(2048, '\0')), "");
}

/// With an AMD GPU its memory works; without, the errors say what is missing.
TEST(HipAdaptor, ADeviceOrAnErrorThatSaysWhatIsMissing) {
  try {
    static_cast<void>(device_vendor.list_devices());
  } catch (const ToolchainError& error) {
    EXPECT_TRUE(contains(error.what(), "AMD's HIP run-time"));
    EXPECT_THROW(static_cast<void>(device_vendor.open_device(0)), ToolchainError);
    return;
  }
  const std::shared_ptr<Device> device = device_vendor.open_device(0);
  EXPECT_EQ(device->info().backend, "hip");
  const std::shared_ptr<void> x = device->allocate(8, "Dat 'x'");
  const double value = 1.5;
  device->upload(x.get(), 0, &value, 8);
  double found = 0;
  device->download(&found, x.get(), 0, 8);
  EXPECT_EQ(found, value);
}

TEST(HipAdaptor, CodeFitsGpusOfItsKind) {
  const std::string gpu = "gfx90a:sramecc+:xnack-";
  EXPECT_EQ(fitting_image(gpu, {"gfx90", "gfx90a"}), 1U);
  EXPECT_EQ(fitting_image(gpu, {"gfx90a", "gfx90a:sramecc+", "gfx90a:sramecc-"}), 1U);
  EXPECT_EQ(fitting_image("gfx1030", {"gfx1030"}), 0U);
  EXPECT_FALSE(fitting_image("gfx90a", {"gfx90a:xnack-", "sm_90", "", "gfx942"}));
}

}  // namespace
}  // namespace op2::runtime::hip
