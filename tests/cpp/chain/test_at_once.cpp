// SPDX-License-Identifier: BSD-3-Clause
#include "chain/at_once.hpp"

#include <gtest/gtest.h>

namespace op2::chain {
namespace {

TEST(AtOnce, SoManyBlocksOfALine) {
  const int codes[2] = {};
  const Line line{&codes[0], 12, 3};
  AtOnce lines;
  EXPECT_TRUE(lines.is_empty());
  EXPECT_EQ(lines.left(line), 0);
  EXPECT_FALSE(lines.take(line, 1));
  EXPECT_TRUE(lines.is_empty());
  lines.set(line, 2, 1);
  EXPECT_FALSE(lines.is_empty());
  for (const Line& other : {Line{&codes[1], 12, 3}, Line{&codes[0], 14, 3}, Line{&codes[0], 12, 0}})
    EXPECT_FALSE(lines.take(other, 1));
  EXPECT_TRUE(lines.take(line, 1));
  EXPECT_EQ(lines.left(line), 1);
  EXPECT_TRUE(lines.take(line, 1));
  EXPECT_FALSE(lines.take(line, 1));
  EXPECT_EQ(lines.left(line), 0);
}

TEST(AtOnce, NotWithOtherOptions) {
  const Line line;
  AtOnce lines;
  lines.set(line, 5, 1);
  EXPECT_FALSE(lines.take(line, 2));
  EXPECT_EQ(lines.left(line), 5);
  EXPECT_TRUE(lines.take(line, 1));
  lines.set(line, 1, 2);
  EXPECT_FALSE(lines.take(line, 1));
  EXPECT_TRUE(lines.take(line, 2));
  lines.set(line, 1, 2);
  lines.clear();
  EXPECT_TRUE(lines.is_empty());
  EXPECT_FALSE(lines.take(line, 2));
}

}  // namespace
}  // namespace op2::chain
