// SPDX-License-Identifier: BSD-3-Clause
#include "base/json.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"

namespace op2 {
namespace {

TEST(Json, ValuesHaveTheirText) {
  const std::string text = without_blanks(
      "{ \"a b\": [1, 2.5e1, []],\n \"s\": \"x\\\" \\u00e9\\n\", \"o\": {}, \"t\": true }");
  EXPECT_EQ(text, "{\"a b\":[1,2.5e1,[]],\"s\":\"x\\\" \\u00e9\\n\",\"o\":{},\"t\":true}");
  const Json found = read_json(text);
  EXPECT_EQ(found.members.size(), 4U);
  EXPECT_EQ(found.at("a b").text, "[1,2.5e1,[]]");
  EXPECT_EQ(found.at("a b").items.at(1).number(), 25.0);
  EXPECT_EQ(found.at("s").string, "x\" \xc3\xa9\n");
  EXPECT_TRUE(found.at("o").members.empty());
  EXPECT_EQ(found.at("t").text, "true");
  EXPECT_THROW((void)found.at("missing"), UsageError);
  EXPECT_THROW((void)found.at("t").number(), UsageError);
}

TEST(Json, AnyPrefixIsAnError) {
  const std::string text = R"({"a":[1,{"b":"c\u00e9"}],"d":[]})";
  EXPECT_EQ(read_json(text).at("d").text, "[]");
  for (std::size_t n = 0; n < text.size(); ++n) {
    EXPECT_THROW((void)read_json(text.substr(0, n)), UsageError) << n;
  }
  EXPECT_THROW((void)read_json(text + "]"), UsageError);
  EXPECT_THROW((void)read_json(std::string(100'000, '[')), UsageError);
}

}  // namespace
}  // namespace op2
