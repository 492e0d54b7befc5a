// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace op2::testing {

/// @brief Where a file called @p name can be written: other processes get other paths, so that
/// tests can run beside each other.
inline std::string own_path(const std::string& name) {
  return ::testing::TempDir() + "op2_" + std::to_string(::getpid()) + "_" + name;
}

}  // namespace op2::testing
