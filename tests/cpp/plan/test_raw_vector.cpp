// SPDX-License-Identifier: BSD-3-Clause
#include "plan/raw_vector.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace op2::plan {
namespace {

TEST(RawVector, KeepsItsNumbersWhenItIsMadeLonger) {
  RawVector<std::uint16_t> values(100, std::uint16_t{7});
  values.resize(5000);  // the others are anything
  EXPECT_EQ(values.size(), 5000U);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(values[i], 7) << i;
}

TEST(RawVector, HoldsWhatItIsGiven) {
  RawVector<std::int64_t> values;
  for (std::int64_t i = 0; i < 1000; ++i) values.push_back(i);
  EXPECT_EQ(values.size(), 1000U);
  EXPECT_EQ(values[999], 999);
}

}  // namespace
}  // namespace op2::plan
