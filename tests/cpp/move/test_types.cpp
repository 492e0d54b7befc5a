// SPDX-License-Identifier: BSD-3-Clause
#include "move/types.hpp"

#include <gtest/gtest.h>

namespace op2::move {
namespace {

TEST(MoveTypes, EachDtypeHasTheTypeOfItsSize) {
  for (std::size_t i = 0; i < n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    std::size_t n_bytes = 0;
    with_type(dtype, [&n_bytes](auto value) { n_bytes = sizeof(value); });
    EXPECT_EQ(n_bytes, size_of(dtype));
  }
  EXPECT_THROW(with_type(static_cast<DType>(99), [](auto) {}), InternalError);
}

}  // namespace
}  // namespace op2::move
