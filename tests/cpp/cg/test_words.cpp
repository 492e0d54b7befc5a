// SPDX-License-Identifier: BSD-3-Clause
#include "cg/words.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace op2::cg {
namespace {

bool has(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(Words, OfTheDialectsAreNotCs) {
  for (const std::string_view word :
       {"global", "kernel", "half", "uint", "double4", "CHAR_BIT", "M_PI_F"}) {
    EXPECT_TRUE(has(opencl_words(), word)) << word;
  }
  for (const std::string_view word : {"new", "class", "template", "this", "threadIdx"}) {
    EXPECT_TRUE(has(cuda_words(), word)) << word;
  }
  EXPECT_FALSE(has(opencl_words(), "q"));
  EXPECT_FALSE(has(cuda_words(), "global"));
}

TEST(Words, FunctionsThatComeAlongMayBeVariables) {
  EXPECT_TRUE(has(opencl_functions(), "length"));
  EXPECT_FALSE(has(opencl_words(), "length"));
  EXPECT_TRUE(has(cuda_functions(), "max"));
  EXPECT_FALSE(has(cuda_words(), "max"));
}

}  // namespace
}  // namespace op2::cg
