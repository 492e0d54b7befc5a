// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/cuda/deciding_code.hpp"

#include <gtest/gtest.h>

#include <string>

namespace op2::runtime::cuda {
namespace {

TEST(DecidingCode, IsPtxThatOldDriversTakeAndNamesWhatTheyKnow) {
  const std::string code = deciding_code();
  EXPECT_NE(code.find(".version 6.0\n.target sm_50"), std::string::npos);
  EXPECT_NE(code.find(".extern .func cudaGraphSetConditional"), std::string::npos);
  EXPECT_NE(code.find(".visible .entry op2_decide("), std::string::npos);
}

}  // namespace
}  // namespace op2::runtime::cuda
