// SPDX-License-Identifier: BSD-3-Clause
#include "jit/memory_cache.hpp"

#include <gtest/gtest.h>

namespace op2::jit {
namespace {

std::shared_ptr<Library> a_library() {
  return std::make_shared<Library>("libm.so.6");
}

TEST(MemoryCache, ForgetsTheLeastRecentlyUsed) {
  MemoryCache cache(2);
  const auto a = a_library();
  const auto b = a_library();
  cache.insert("a", a);
  cache.insert("b", b);
  EXPECT_EQ(cache.find("a"), a);
  cache.insert("c", a_library());
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(cache.find("b"), nullptr);
  EXPECT_EQ(cache.find("a"), a);
  EXPECT_EQ(b.use_count(), 1);
}

TEST(MemoryCache, ReplacesUnderTheSameKey) {
  MemoryCache cache(2);
  const auto newer = a_library();
  cache.insert("a", a_library());
  cache.insert("a", newer);
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(cache.find("a"), newer);
}

TEST(MemoryCache, ClearsWhatNobodyElseHolds) {
  MemoryCache cache(2);
  const auto held = a_library();
  cache.insert("a", held);
  cache.clear();
  EXPECT_EQ(cache.find("a"), nullptr);
  EXPECT_NE(held->symbol("cos"), nullptr);
}

TEST(MemoryCache, OfNoEntriesHoldsNone) {
  MemoryCache cache(0);
  cache.insert("a", a_library());
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_EQ(cache.find("a"), nullptr);
}

}  // namespace
}  // namespace op2::jit
