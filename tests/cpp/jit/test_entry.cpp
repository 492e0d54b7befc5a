// SPDX-License-Identifier: BSD-3-Clause
#include "jit/entry.hpp"

#include <gtest/gtest.h>

namespace op2::jit {
namespace {

std::string entry(const std::string& payload, const std::string& key) {
  return payload + entry_tail(payload, key);
}

TEST(Entry, GivesBackItsPayload) {
  for (const std::string& payload : {std::string(), std::string("p"), std::string(5000, '\0')}) {
    EXPECT_EQ(entry_payload(entry(payload, "key"), "key"), payload);
  }
}

TEST(Entry, BelongsToOneKeyOnly) {
  const std::string file = entry("payload", "some key");
  // The last is a suffix: payload and key together would be the same bytes.
  for (const std::string key : {"some kex", "", "some key ", "key"}) {
    EXPECT_EQ(entry_payload(file, key), std::nullopt) << key;
  }
}

TEST(Entry, IsNothingWhenTruncated) {
  const std::string file = entry("payload", "key");
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_EQ(entry_payload(file.substr(0, size), "key"), std::nullopt) << size;
  }
}

TEST(Entry, IsNothingWhenAnyByteChanges) {
  const std::string file = entry("payload", "key");
  for (std::size_t i = 0; i < file.size(); ++i) {
    std::string changed = file;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_EQ(entry_payload(changed, "key"), std::nullopt) << i;
  }
}

TEST(Entry, IsNothingWhenSomethingFollows) {
  EXPECT_EQ(entry_payload(entry("payload", "key") + "x", "key"), std::nullopt);
}

}  // namespace
}  // namespace op2::jit
