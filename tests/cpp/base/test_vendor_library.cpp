// SPDX-License-Identifier: BSD-3-Clause
#include "base/vendor_library.hpp"

#include <gtest/gtest.h>

#include "message_of.hpp"

namespace op2 {
namespace {

using testing::contains;
using testing::message_of;

const char* const c_library = "libc.so.6";

TEST(VendorLibrary, TheFirstThatLoadsIsTaken) {
  const VendorLibrary library("the C library", {"libop2-missing.so.1", c_library}, "install one");
  EXPECT_TRUE(contains(library.path(), "libc"));
  int (*absolute)(int) = nullptr;
  library.require(absolute, "abs");
  EXPECT_EQ(absolute(-3), 3);
}

TEST(VendorLibrary, AMissingOneSaysWhatWasLookedForAndWhatToInstall) {
  const std::string message = message_of<ToolchainError>([] {
    const VendorLibrary library("NVIDIA's driver",
                                {"libop2-a.so.1", "/dev/null/nowhere/libop2-b.so"},
                                "install the driver");
  });
  EXPECT_TRUE(contains(message, "NVIDIA's driver was not found", "install the driver",
                       "libop2-a.so.1", "/dev/null/nowhere/libop2-b.so"));
}

TEST(VendorLibrary, AMissingSymbolIsNullOrAnError) {
  const VendorLibrary library("the C library", {c_library}, "install a newer one");
  void (*newer)() = nullptr;
  library.look_up(newer, "op2_no_such_symbol");
  EXPECT_EQ(newer, nullptr);
  const std::string message =
      message_of<ToolchainError>([&] { library.require(newer, "op2_no_such_symbol"); });
  EXPECT_TRUE(contains(message, "too old", "op2_no_such_symbol", "install a newer one"));
}

}  // namespace
}  // namespace op2
