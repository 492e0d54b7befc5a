// SPDX-License-Identifier: BSD-3-Clause
#include "base/canonical_reader.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/canonical.hpp"
#include "base/error.hpp"
#include "message_of.hpp"

namespace op2 {
namespace {

using op2::testing::contains;
using op2::testing::message_of;

TEST(CanonicalReader, ReadsWhatWasWritten) {
  Canonical out;
  out.open("loop").text("a:b)(").number(-7).flag(true).open("").close();
  out.number(std::numeric_limits<std::int64_t>::min()).text("").close();
  const std::string text = out.str();
  CanonicalReader in(text);
  in.open("loop");
  EXPECT_EQ(in.text(), "a:b)(");
  EXPECT_EQ(in.small(), -7);
  EXPECT_TRUE(in.flag());
  EXPECT_EQ(in.open(), "");
  EXPECT_TRUE(in.is_at_close());
  in.close();
  EXPECT_EQ(in.number(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(in.text(), "");
  EXPECT_FALSE(in.is_at_end());
  in.close();
  EXPECT_TRUE(in.is_at_end());
}

TEST(CanonicalReader, SaysWhereItIsDamaged) {
  const std::string message = message_of<UsageError>([] {
    CanonicalReader in("(4:loop)");
    in.open("launch");
  });
  EXPECT_TRUE(contains(message, "expected a record 'launch' at byte 0 of 8"));
  for (const char* text : {"", "s1:7", "n1:x", "n2:7", "n2:07", "n1", "n-1:7", "n99:7", "n0:"}) {
    CanonicalReader in(text);
    EXPECT_THROW((void)in.number(), UsageError) << text;
  }
  EXPECT_THROW((void)CanonicalReader("n1:2").flag(), UsageError);
  EXPECT_THROW((void)CanonicalReader("n10:2147483648").small(), UsageError);
  EXPECT_THROW(CanonicalReader("s1:a").close(), UsageError);
}

TEST(CanonicalReader, DoesNotFollowRecordsWithoutEnd) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "(0:";
  CanonicalReader in(text);
  const auto dive = [&in] {
    for (;;) (void)in.open();
  };
  EXPECT_TRUE(contains(message_of<UsageError>(dive), "fewer records"));
}

}  // namespace
}  // namespace op2
