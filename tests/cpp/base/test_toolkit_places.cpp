// SPDX-License-Identifier: BSD-3-Clause
#include "base/toolkit_places.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

namespace op2 {
namespace {

TEST(ToolkitPlaces, CudaHomeComesFirstThenTheLoaderThenPackages) {
  std::string pattern = (std::filesystem::temp_directory_path() / "op2-places-XXXXXX").string();
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  const std::filesystem::path root = pattern;
  for (const char* folder : {"home/lib64", "package"}) {
    std::filesystem::create_directories(root / folder);
  }
  std::ofstream(root / "home/lib64/libpart.so.1") << "";
  std::ofstream(root / "package/libpart.so.2") << "";
  const char* before = ::getenv("CUDA_HOME");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("CUDA_HOME", (root / "home").c_str(), 1);
  const std::vector<std::string> found = toolkit_places(
      {"libpart.so.2", "libpart.so.1"}, {(root / "package").string(), "/dev/null/nowhere"});
  before == nullptr ? ::unsetenv("CUDA_HOME") : ::setenv("CUDA_HOME", kept.c_str(), 1);
  const auto at = [&found](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(found, name) - found.begin());
  };
  EXPECT_EQ(at((root / "home/lib64/libpart.so.1").string()), 0U);
  EXPECT_LT(at("libpart.so.2"), at("libpart.so.1"));
  EXPECT_LT(at("libpart.so.1"), at((root / "package/libpart.so.2").string()));
  EXPECT_LT(at((root / "package/libpart.so.2").string()), found.size());
  EXPECT_EQ(at("/dev/null/nowhere/libpart.so.2"), found.size());  // what is not there is not tried
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace op2
