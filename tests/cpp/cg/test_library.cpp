// SPDX-License-Identifier: BSD-3-Clause
#include "cg/library.hpp"

#include <gtest/gtest.h>

#include <string>

namespace op2::cg {
namespace {

const kernel::KnownFunction& known(const std::string& name) {
  const kernel::KnownFunction* function = kernel::known_function(name);
  EXPECT_NE(function, nullptr) << name;
  return *function;
}

std::string in_opencl(const std::string& name) {
  return opencl_library(known(name)).name;
}
std::string in_cuda(const std::string& name) {
  return cuda_library(known(name)).name;
}

TEST(OpenClLibrary, OverloadsInsteadOfLetters) {
  EXPECT_EQ(in_opencl("fabs"), "fabs");
  EXPECT_EQ(in_opencl("fabsf"), "fabs");
  EXPECT_EQ(in_opencl("__builtin_sqrtf"), "sqrt");
  EXPECT_EQ(in_opencl("modff"), "modf");
  EXPECT_EQ(in_opencl("modf"), "modf");  // not a float variant of `mod`
  EXPECT_EQ(in_opencl("erf"), "erf");
  EXPECT_EQ(in_opencl("erff"), "erf");
}

TEST(OpenClLibrary, OtherNamesAndResults) {
  EXPECT_EQ(in_opencl("nearbyint"), "rint");
  EXPECT_EQ(in_opencl("scalbnf"), "ldexp");
  EXPECT_EQ(in_opencl("lround"), "round");
  EXPECT_TRUE(opencl_library(known("lround")).cast_result);
  EXPECT_TRUE(opencl_library(known("abs")).cast_result);  // unsigned there
  EXPECT_FALSE(opencl_library(known("fabs")).cast_result);
  EXPECT_EQ(in_opencl("memcpy"), "op2_memcpy");
  EXPECT_EQ(in_opencl("__builtin_isnan"), "isnan");
  EXPECT_EQ(in_opencl("__builtin_inf"), "INFINITY");
  EXPECT_TRUE(opencl_library(known("__builtin_inf")).is_literal);
}

TEST(CudaLibrary, KeepsCsNamesButNoBuiltins) {
  EXPECT_EQ(in_cuda("fabsf"), "fabsf");
  EXPECT_EQ(in_cuda("__builtin_sqrt"), "sqrt");
  EXPECT_EQ(in_cuda("memcpy"), "memcpy");
  EXPECT_EQ(in_cuda("memmove"), "op2_memmove");
  EXPECT_EQ(in_cuda("__builtin_complex"), "complex");
  EXPECT_EQ(in_cuda("__builtin_nanf"), "__int_as_float(0x7fc00000)");
}

}  // namespace
}  // namespace op2::cg
