// SPDX-License-Identifier: BSD-3-Clause
#include "jit/nvrtc/api.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "../../base/message_of.hpp"
#include "../support.hpp"
#include "base/error.hpp"

namespace op2::jit::nvrtc {
namespace {

using jit::testing::ScopedVariable;
using jit::testing::TemporaryDirectory;

TEST(NvrtcApi, IsLookedForInCudaHomeFirstThenByTheLoaderThenInThePackages) {
  const TemporaryDirectory home;
  const TemporaryDirectory package;
  std::filesystem::create_directory(home.path() / "lib64");
  std::ofstream(home.path() / "lib64" / "libnvrtc.so.12") << "";
  std::ofstream(package.path() / "libnvrtc.so.13") << "";
  const ScopedVariable variable("CUDA_HOME", home.path().string());
  const ScopedVariable other("CUDA_PATH", std::nullopt);
  const std::vector<std::string> found = candidates({package.path().string()});
  const auto place = [&found](const std::string& name) {
    return std::ranges::find(found, name) - found.begin();
  };
  EXPECT_EQ(place((home.path() / "lib64" / "libnvrtc.so.12").string()), 0);
  EXPECT_LT(place("libnvrtc.so.13"), place("libnvrtc.so.12"));
  EXPECT_LT(place("libnvrtc.so.12"), place((package.path() / "libnvrtc.so.13").string()));
  EXPECT_LT(place((package.path() / "libnvrtc.so.13").string()),
            static_cast<std::ptrdiff_t>(found.size()));
}

TEST(NvrtcApi, AMissingOneSaysWhatWasLookedForAndWhatToInstall) {
  const std::string message = op2::testing::message_of<ToolchainError>(
      [] { static_cast<void>(load_library({"/dev/null/nowhere/libnvrtc.so.13"})); });
  EXPECT_TRUE(op2::testing::contains(message, "NVRTC, was not found",
                                     "pip install nvidia-cuda-nvrtc", "CUDA_HOME",
                                     "/dev/null/nowhere/libnvrtc.so.13"));
}

}  // namespace
}  // namespace op2::jit::nvrtc
