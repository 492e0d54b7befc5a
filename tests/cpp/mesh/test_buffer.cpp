// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/buffer.hpp"

#include <gtest/gtest.h>

#include <array>

namespace op2::mesh {
namespace {

TEST(Buffer, CountsItsWrites) {
  std::array<double, 3> values{};
  Buffer buffer(values.data(), sizeof values);
  EXPECT_EQ(buffer.data(), values.data());
  EXPECT_EQ(buffer.n_bytes(), 24);
  EXPECT_EQ(buffer.version(), 0);
  buffer.increment_version();
  buffer.increment_version();
  EXPECT_EQ(buffer.version(), 2);
}

TEST(Buffer, PointingElsewhereIsNoWrite) {
  std::array<double, 3> first{};
  std::array<float, 2> second{};
  Buffer buffer(first.data(), sizeof first);
  buffer.increment_version();
  buffer.reset(second.data(), sizeof second);
  EXPECT_EQ(buffer.data(), second.data());
  EXPECT_EQ(buffer.n_bytes(), 8);
  EXPECT_EQ(buffer.version(), 1);
}

}  // namespace
}  // namespace op2::mesh
