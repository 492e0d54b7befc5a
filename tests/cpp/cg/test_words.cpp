// SPDX-License-Identifier: BSD-3-Clause
#include "cg/words.hpp"

#include <gtest/gtest.h>

namespace op2::cg {
namespace {

TEST(Words, OfTheDialectsAreNotCs) {
  for (const std::string_view word : {"global", "kernel", "half", "uint", "double4", "CHAR_BIT",
                                      "M_PI_F", "reserve_id_t", "CLK_SUCCESS", "__cnfn"}) {
    EXPECT_TRUE(opencl_vocabulary().is_word(word)) << word;
  }
  for (const std::string_view word :
       {"new", "class", "template", "this", "threadIdx", "double4_16a", "__device__", "__ldg"}) {
    EXPECT_TRUE(cuda_vocabulary().is_word(word)) << word;
  }
  EXPECT_FALSE(opencl_vocabulary().is_word("q"));
  EXPECT_FALSE(opencl_vocabulary().is_word("_q"));
  EXPECT_FALSE(cuda_vocabulary().is_word("global"));
}

TEST(Words, FunctionsThatComeAlongMayBeVariables) {
  for (const std::string_view name : {"length", "as_float", "convert_float4_rte", "get_local_id",
                                      "vload4", "native_sin", "read_mem_fence"}) {
    EXPECT_TRUE(opencl_vocabulary().is_function(name)) << name;
    EXPECT_FALSE(opencl_vocabulary().is_word(name)) << name;
  }
  for (const std::string_view name : {"max", "any", "make_float4", "atomicInc", "cudaError_t"}) {
    EXPECT_TRUE(cuda_vocabulary().is_function(name)) << name;
    EXPECT_FALSE(cuda_vocabulary().is_word(name)) << name;
  }
  EXPECT_FALSE(opencl_vocabulary().is_function("flux"));
  EXPECT_FALSE(cuda_vocabulary().is_function("flux"));
}

TEST(Words, ParametersOfLoopsAreNotWhatLoopsCall) {
  EXPECT_TRUE(opencl_vocabulary().is_called("get_global_id"));
  EXPECT_TRUE(opencl_vocabulary().is_called("barrier"));
  EXPECT_TRUE(cuda_vocabulary().is_called("atomicAdd"));
  EXPECT_FALSE(opencl_vocabulary().is_called("length"));
  EXPECT_FALSE(cuda_vocabulary().is_called("max"));
}

TEST(Words, OfCAreNone) {
  const Vocabulary none;
  EXPECT_FALSE(none.is_word("__x"));
  EXPECT_FALSE(none.is_function("max"));
  EXPECT_FALSE(none.is_called("barrier"));
}

}  // namespace
}  // namespace op2::cg
