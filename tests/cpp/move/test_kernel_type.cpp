// SPDX-License-Identifier: BSD-3-Clause
#include "move/kernel_type.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace op2::move {
namespace {

/// Doubles small numbers, and has a function for an item only.
struct Doubling {
  Prefix prefix;
  std::int64_t most;

  static std::int64_t one(const Prefix* self, const Items& items, char* /*scratch*/) {
    const int value = *reinterpret_cast<const int*>(items.from[0]);
    if (value > data_of<Doubling>(self).most) return 0;
    *reinterpret_cast<int*>(items.to) = 2 * value;
    return all_fit;
  }
};

TEST(KernelType, AFunctionForAnItemServesAllRequests) {
  const std::array<int, 3> from{1, 2, 3};
  const std::vector<std::int64_t> rows{2, 1, 0};
  for (const std::int64_t most : {3, 2}) {
    std::array<int, 3> to{};
    Items items{
        .to = reinterpret_cast<char*>(to.data()), .to_stride = 4, .from = {}, .from_stride = {4}};
    items.from[0] = reinterpret_cast<const char*>(from.data());
    Doubling kernel{{}, most};
    kernel.prefix.function = function_for<Doubling>(Request::strided);
    EXPECT_EQ(call(&kernel.prefix, items, 3, nullptr), most == 3 ? all_fit : 2);
    EXPECT_EQ(to[1], 4);
    kernel.prefix.function = function_for<Doubling>(Request::indexed);
    const std::int64_t found = call(&kernel.prefix, items, Lists{nullptr, rows.data()}, 3, nullptr);
    EXPECT_EQ(found, most == 3 ? all_fit : 0);
    EXPECT_EQ(to[0], most == 3 ? 6 : 2);
    kernel.prefix.function = function_for<Doubling>(Request::single);
    EXPECT_EQ(call(&kernel.prefix, items.behind(1), nullptr), all_fit);
  }
}

}  // namespace
}  // namespace op2::move
