// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/nvtx.hpp"

#include <gtest/gtest.h>

namespace op2::runtime {
namespace {

// A tool comes with the process: tests/python/test_profile.py has one that watches.

TEST(Nvtx, NobodyWatches) {
  const NamedRange outer("outer");
  const NamedRange inner("inner");
}

}  // namespace
}  // namespace op2::runtime
