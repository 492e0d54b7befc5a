// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "runtime/opencl/api.hpp"

namespace op2::runtime::opencl::testing {

/// Why this machine cannot run OpenCL; empty if it can. CI installs PoCL, so there it can.
inline std::string why_not() {
  try {
    (void)find_devices(*load_api());
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace op2::runtime::opencl::testing

#define OP2_NEEDS_OPENCL()                                                              \
  if (const std::string why = ::op2::runtime::opencl::testing::why_not(); !why.empty()) \
  GTEST_SKIP() << why
