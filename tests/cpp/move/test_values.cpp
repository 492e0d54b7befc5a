// SPDX-License-Identifier: BSD-3-Clause
#include "move/values.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace op2::move {
namespace {

TEST(Values, AreReadAnywhere) {
  std::array<char, 20> bytes{};
  const double value = 2.5;
  std::memcpy(bytes.data() + 3, &value, sizeof value);
  EXPECT_EQ(value_at<double>(bytes.data() + 3), 2.5);
  int found = 0;
  convert_values<int, double>(reinterpret_cast<char*>(&found), 0, bytes.data() + 3, 0, 1);
  EXPECT_EQ(found, 2);
}

TEST(Values, OfOtherTypesAreConvertedToo) {
  const std::vector<long double> from{1, 2, 1e300L};
  std::vector<float> to(3, -1);
  const auto* const bytes = reinterpret_cast<const char*>(from.data());
  EXPECT_EQ((first_unfit_value<float, long double, false>(bytes, sizeof(long double), 3)), 2);
  convert_values<float, long double>(reinterpret_cast<char*>(to.data()), 8, bytes,
                                     2 * sizeof(long double), 1);
  EXPECT_EQ(to, (std::vector<float>{1, -1, -1}));
}

}  // namespace
}  // namespace op2::move
