// SPDX-License-Identifier: BSD-3-Clause
#include "base/digest.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace op2 {
namespace {

TEST(Digest, IsTheOneThatOthersCompute) {  // by the package mmh3, which is the reference in C++
  EXPECT_EQ(digest(""), "00000000000000000000000000000000");
  EXPECT_EQ(digest("a"), "85555565f6597889e6b53a48510e895a");
  EXPECT_EQ(digest("The quick brown fox jumps over the lazy dog"),
            "e34bbc7bbc071b6c7a433ca9c49a9347");
}

TEST(Digest, EveryByteCounts) {
  const std::string text = "par_loop flux over edges, by colours";
  std::set<std::string> seen;
  for (std::size_t length = 0; length <= text.size(); ++length) {
    seen.insert(digest(text.substr(0, length)));
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ '\x80');
    seen.insert(digest(changed));
  }
  EXPECT_EQ(seen.size(), 2 * text.size() + 1);
}

}  // namespace
}  // namespace op2
