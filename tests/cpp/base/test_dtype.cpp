// SPDX-License-Identifier: BSD-3-Clause
#include "base/dtype.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace op2 {
namespace {

TEST(DType, NamesRoundTrip) {
  for (std::size_t i = 0; i < n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(name_of(dtype)), dtype);
  }
  EXPECT_EQ(size_of(DType::complex128), 16U);
  EXPECT_EQ(size_of(DType::bfloat16), 2U);
  EXPECT_FALSE(is_floating(DType::float16) || is_integer(DType::float16));
  EXPECT_EQ(c_name_of(DType::uint32), "unsigned int");
}

TEST(DType, UnknownNameListsWhatThereIs) {
  try {
    (void)dtype_from_name("float8");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("float64"), std::string::npos);
  }
}

}  // namespace
}  // namespace op2
