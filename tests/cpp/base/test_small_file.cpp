// SPDX-License-Identifier: BSD-3-Clause
#include "base/small_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace op2 {
namespace {

TEST(SmallFile, IsReadWhole) {
  const std::string path = ::testing::TempDir() + "small_file.txt";
  const std::string text = "two lines\n" + std::string(10'000, 'x');
  std::ofstream(path) << text;
  EXPECT_EQ(text_of_file(path), text);
  std::filesystem::remove(path);
}

TEST(SmallFile, ThatIsMissingIsEmpty) {
  EXPECT_EQ(text_of_file("/dev/null/nowhere/at/all"), "");
}

}  // namespace
}  // namespace op2
