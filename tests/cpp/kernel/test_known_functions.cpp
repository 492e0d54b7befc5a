// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/known_functions.hpp"

#include <gtest/gtest.h>

namespace op2::kernel {
namespace {

TEST(KnownFunctions, ComeInBothPrecisions) {
  const KnownFunction* wide = known_function("pow");
  const KnownFunction* narrow = known_function("powf");
  ASSERT_NE(wide, nullptr);
  ASSERT_NE(narrow, nullptr);
  EXPECT_EQ(wide->result, scalar(Base::float64));
  EXPECT_EQ(narrow->parameters[1], scalar(Base::float32));
  EXPECT_EQ(known_function("csqrtf")->result, scalar(Base::complex64));
  EXPECT_EQ(known_function("absf"), nullptr);
  EXPECT_EQ(known_function("printf"), nullptr);
}

TEST(KnownFunctions, SayWhatTheyWrite) {
  const KnownFunction* copy = known_function("memcpy");
  ASSERT_NE(copy, nullptr);
  EXPECT_TRUE(copy->writes(0));
  EXPECT_FALSE(copy->writes(1));
  EXPECT_FALSE(copy->writes(2));
  EXPECT_TRUE(known_function("modff")->writes(1));
}

TEST(KnownFunctions, BuiltinsNeedNoPrototype) {
  ASSERT_NE(known_function("__builtin_sqrtf"), nullptr);
  EXPECT_FALSE(known_function("__builtin_sqrtf")->needs_prototype);
  EXPECT_TRUE(known_function("sqrtf")->needs_prototype);
  EXPECT_EQ(known_function("__builtin_inff")->result, scalar(Base::float32));
  EXPECT_EQ(known_function("__builtin_isnan")->result, scalar(Base::int32));
}

}  // namespace
}  // namespace op2::kernel
