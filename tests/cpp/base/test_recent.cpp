// SPDX-License-Identifier: BSD-3-Clause
#include "base/recent.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace op2 {
namespace {

TEST(Recent, ForgetsTheLeastRecentlyUsed) {
  Recent<std::shared_ptr<int>> recent(2);
  const auto forgotten = std::make_shared<int>(2);
  recent.insert("a", std::make_shared<int>(1));
  recent.insert("b", forgotten);
  EXPECT_EQ(**recent.find("a"), 1);
  recent.insert("c", std::make_shared<int>(3));
  EXPECT_EQ(recent.size(), 2U);
  EXPECT_EQ(recent.find("b"), nullptr);
  EXPECT_EQ(**recent.find("a"), 1);
  EXPECT_EQ(forgotten.use_count(), 1);
}

TEST(Recent, ReplacesUnderTheSameKey) {
  Recent<int> recent(2);
  recent.insert("a", 1);
  recent.insert("b", 2);
  recent.insert("a", 3);
  EXPECT_EQ(recent.size(), 2U);
  EXPECT_EQ(*recent.find("a"), 3);
  recent.insert("c", 4);  // what was replaced was used last
  EXPECT_EQ(recent.find("b"), nullptr);
}

TEST(Recent, WeighsWhatItKeeps) {
  Recent<std::string> recent(5, [](const std::string& text) { return text.size(); });
  recent.insert("a", "12");
  recent.insert("b", "123");
  EXPECT_EQ(recent.size(), 2U);
  recent.insert("b", "1234");
  EXPECT_EQ(recent.find("a"), nullptr);
  EXPECT_EQ(*recent.find("b"), "1234");
  recent.insert("c", "123456");
  EXPECT_EQ(recent.size(), 0U);
  recent.insert("d", "12345");
  EXPECT_EQ(*recent.find("d"), "12345");
}

TEST(Recent, ClearedItStartsAnew) {
  Recent<int> recent(1);
  recent.insert("a", 1);
  recent.clear();
  EXPECT_EQ(recent.find("a"), nullptr);
  recent.insert("b", 2);
  EXPECT_EQ(*recent.find("b"), 2);
}

TEST(Recent, OfNoWeightHoldsNothing) {
  Recent<int> recent(0);
  recent.insert("a", 1);
  EXPECT_EQ(recent.size(), 0U);
  EXPECT_EQ(recent.find("a"), nullptr);
}

}  // namespace
}  // namespace op2
